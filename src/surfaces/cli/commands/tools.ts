import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { parse } from 'yaml'
import { TooldexError } from '../../../base/errors.ts'
import { ExecutorType, type RegisteredTool } from '../../../contract/registry.ts'
import { toolSorts } from '../../../contract/stores.ts'
import { ToolStatus } from '../../../contract/tool-state.ts'
import { validateDraft, validateTool } from '../../../operations/registry/check.ts'
import * as tools from '../../../operations/registry/tools.ts'
import { formatTable } from '../format-table.ts'
import type { CliHost } from '../host.ts'
import { type AddCommand, collect, parseCount, toJson } from './command.ts'
import { printOperation, type RegistryFlags, withRegistry, withRegistryOptions } from './registry-command.ts'

const steps = {
  activate: tools.activateTool,
  deactivate: tools.deactivateTool,
  deprecate: tools.deprecateTool,
  reactivate: tools.reactivateTool,
  undeprecate: tools.undeprecateTool,
}

/** `tooldex tools ...`: registered tools. */
export const addTools: AddCommand = (program, host, exit) => {
  const group = program.command('tools').description('register, change, version and retire tools')
  addList(group, host)
  withRegistryOptions(group.command('get <tool>').description('show a registered tool')).action(
    (idOrName: string, flags: RegistryFlags) =>
      printOperation(host, flags, { operation: tools.getTool, input: { idOrName }, text: toJson }),
  )
  addWriting(group, host)
  for (const [step, operation] of Object.entries(steps))
    withRegistryOptions(group.command(`${step} <tool>`).description(operation.summary.toLowerCase())).action(
      (idOrName: string, flags: RegistryFlags) =>
        printOperation(host, flags, { operation, input: { idOrName }, text: said }),
    )
  withRegistryOptions(group.command('delete <tool>').description('delete a tool and its versions')).action(
    (idOrName: string, flags: RegistryFlags) =>
      printOperation(host, flags, {
        operation: tools.deleteTool,
        input: { idOrName },
        text: ({ name }) => `${name} is deleted.\n`,
      }),
  )
  addValidate(group, host, exit)
}

function addList(group: Command, host: CliHost): void {
  const command = group
    .command('list')
    .description('list registered tools')
    .addOption(
      new Option('--status <status>', `only of this status (${ToolStatus.options.join(', ')})`).argParser(collect),
    )
    .option('--category <name>', 'only of this category and those below it')
    .addOption(new Option('--tag <tag>', 'only with this tag').argParser(collect))
    .addOption(
      new Option('--executor-type <kind>', `only of this kind (${ExecutorType.options.join(', ')})`).argParser(collect),
    )
    .option('--search <text>', 'only with this in the name or description')
    .addOption(new Option('--sort <field>', 'in this order').choices(toolSorts))
    .option('--limit <n>', 'at most this many', parseCount)
    .option('--cursor <cursor>', 'go on where the last list ended')
  withRegistryOptions(command).action((flags: RegistryFlags & Record<string, unknown>) => {
    const { server: _server, json: _json, ...input } = flags
    return printOperation(host, flags, {
      operation: tools.listRegistered,
      input,
      text({ items, nextCursor }) {
        const rows = items.map((tool) => [
          tool.name,
          tool.status,
          String(tool.version),
          tool.executorType,
          tool.description,
        ])
        const more = nextCursor === undefined ? '' : `more: --cursor ${nextCursor}\n`
        if (rows.length === 0) return 'No tool is registered that fits.\n'
        return `${formatTable(['Tool', 'Status', 'Version', 'Kind', 'Description'], rows, host.columns)}\n${more}`
      },
    })
  })
}

function addWriting(group: Command, host: CliHost): void {
  const create = group
    .command('create <file>')
    .description('register the tool in a YAML or JSON file (- for standard input)')
  withRegistryOptions(create.option('--changelog <text>', 'what to say about it')).action(
    (file: string, { changelog, ...flags }: RegistryFlags & { changelog?: string }) =>
      printOperation(host, flags, {
        operation: tools.createTool,
        input: { ...readObject(file), ...(changelog === undefined ? {} : { changelog }) },
        text: said,
      }),
  )
  const edit = group
    .command('edit <tool> <file>')
    .description('change the fields that are in a YAML or JSON file (- for standard input)')
    .option('--changelog <text>', 'what to say about it')
    .option('--expected-version <n>', 'only if it still has this version', parseCount)
  withRegistryOptions(edit).action(
    (idOrName: string, file: string, flags: RegistryFlags & { changelog?: string; expectedVersion?: number }) => {
      const { changelog, expectedVersion } = flags
      const about = Object.fromEntries(
        Object.entries({ changelog, expectedVersion }).filter(([, value]) => value !== undefined),
      )
      const input = { ...readObject(file), idOrName, ...about }
      return printOperation(host, flags, { operation: tools.changeTool, input, text: said })
    },
  )
}

function addValidate(group: Command, host: CliHost, exit: (code: number) => void): void {
  const command = group
    .command('validate <tool>')
    .description('say everything that is wrong with a tool, or with a file (--file)')
  withRegistryOptions(command.option('--file', 'the tool is a file')).action(
    async (what: string, flags: RegistryFlags & { file?: boolean }) => {
      const answer = await withRegistry(host, flags, (registry) =>
        flags.file
          ? registry.invoke(validateDraft, readObject(what))
          : registry.invoke(validateTool, { idOrName: what }),
      )
      host.out(flags.json ? toJson(answer) : verdictText(answer))
      if (!answer.valid) exit(2)
    },
  )
}

function verdictText({ valid, problems }: Awaited<ReturnType<typeof validateTool.handle>>): string {
  const lines = problems.map(({ severity, pointer, message, hint }) => {
    return `${severity}: ${pointer ?? ''} ${message}${hint === undefined ? '' : ` (${hint})`}\n`
  })
  return `${lines.join('')}${valid ? 'valid' : 'not valid'}\n`
}

const said = ({ name, status, version }: RegisteredTool): string => `${name} is ${status}, version ${version}.\n`

/** The object in a file of YAML or JSON. */
function readObject(file: string): Record<string, unknown> {
  const value: unknown = parse(readFileSync(file === '-' ? 0 : file, 'utf8'), { maxAliasCount: 20 })
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new TooldexError('USAGE', `${file} does not have an object in it.`)
}
