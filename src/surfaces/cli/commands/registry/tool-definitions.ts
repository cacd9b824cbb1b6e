import { type Command, Option } from 'commander'
import { LlmFormat, type Loss } from '../../../../contract/llm.ts'
import { getForModel, listForModel } from '../../../../operations/registry/definitions.ts'
import type { CliHost } from '../../host.ts'
import { collect, parseCount, toJson } from '../command.ts'
import { definedOptions, type RegistryFlags, withRegistry, withRegistryOptions } from './registry-command.ts'

interface DefinitionFlags extends RegistryFlags {
  readonly format: LlmFormat
  readonly category?: string
  readonly tag?: string[]
  readonly limit?: number
  readonly cursor?: string
  readonly deferLoading?: boolean
  readonly namespaces?: boolean
}

/** `tooldex tools definitions [TOOL]`: prints definitions for a model; losses are reported on stderr. */
export function addDefinitions(group: Command, host: CliHost): void {
  const command = group
    .command('definitions [tool]')
    .description('print the definitions of offered tools in the format of a provider; losses are reported on stderr')
    .addOption(new Option('--format <format>', 'format of the provider').choices(LlmFormat.options).default('mcp'))
    .option('--category <name>', 'only tools of this category')
    .addOption(new Option('--tag <tag>', 'only tools with this tag').argParser(collect))
    .option('--limit <n>', 'maximum number of results', parseCount)
    .option('--cursor <cursor>', 'cursor of the next page')
    .option('--defer-loading', 'defer loading to the tool search of the provider, if supported')
    .option('--namespaces', 'group tools by namespace, if the provider supports it')
  withRegistryOptions(command).action((tool: string | undefined, flags: DefinitionFlags) => {
    const { format, category, tag: tags, limit, cursor, deferLoading, namespaces } = flags
    const options = { format, ...definedOptions({ deferLoading, namespaces }) }
    return withRegistry(host, flags, async (registry) => {
      if (tool !== undefined) {
        const answer = await registry.invoke(getForModel, { name: tool, ...options })
        host.out(toJson(flags.json ? answer : answer.definition))
        return flags.json ? undefined : printLosses(host, answer)
      }
      const answer = await registry.invoke(listForModel, {
        ...options,
        ...definedOptions({ category, tags, limit, cursor }),
      })
      host.out(toJson(flags.json ? answer : answer.definitions))
      if (flags.json) return
      for (const each of answer.tools) printLosses(host, each)
      if (answer.omitted > 0)
        host.err(`${answer.omitted} more: raise --limit, or continue with --cursor ${answer.nextCursor}\n`)
    })
  })
}

function printLosses(host: CliHost, { name, losses }: { name: string; losses: readonly Loss[] }): void {
  for (const { pointer, lost, why } of losses) host.err(`${name}${pointer}: ${lost} is lost, ${why}\n`)
}
