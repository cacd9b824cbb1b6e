import type * as z from 'zod'
import { invoke } from '../../../operations/invoke.ts'
import { listTools } from '../../../operations/search/list-tools.ts'
import { searchTools } from '../../../operations/search/search-tools.ts'
import { readinessText } from '../../text/result-text.ts'
import { formatTable } from '../format-table.ts'
import type { CliHost, RegistryClient } from '../host.ts'
import {
  type AddCommand,
  type StateFlags,
  toJson,
  toOpenOptions,
  withStateFilters,
  withToolOptions,
} from './command.ts'
import { queryRegistry, rejectServerWithLocal, type ServerFlags, withServerOption } from './query-server.ts'

type ListFlags = ServerFlags & StateFlags
type Hit = NonNullable<z.output<typeof searchTools.output>['results']>[number]

/** `tooldex list [CONFIG...]`: lists configs and registered tools, or the tools of the named configs. */
export const addList: AddCommand = (program, host) => {
  const command = program.command('list').argument('[config...]', 'names of configs, or YAML files')
  withServerOption(withToolOptions(withStateFilters(command))).action(async (names: string[], flags: ListFlags) => {
    const configs = [...names, ...(flags.config ?? [])]
    if (configs.length === 0) return listAll(host, flags)
    return listConfigs(host, flags, configs)
  })
}

async function listAll(host: CliHost, flags: ListFlags): Promise<void> {
  // Opened, so that a config that cannot be loaded is reported and not listed.
  const { catalog } = await host.open(toOpenOptions(flags))
  const loaded = catalog.current().configs.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const configs = loaded.map(({ name }) => name)
  const answer = await queryRegistry(host, flags, async (registry, where) => ({
    where,
    tools: await readAll(registry, flags),
  }))
  if (flags.json) return host.out(toJson({ configs, ...(answer === undefined ? {} : { tools: answer.value.tools }) }))
  // Commands take the name of the file; search and describe show the name in it.
  const lines = loaded.map(({ name, config }) => (name === config.name ? name : `${name} (${config.name})`))
  host.out(`${lines.join('\n')}\n`)
  if (answer === undefined) return
  const { where, tools } = answer.value
  const rows = tools.map((hit) => [hit.name, hit.shortDescription, hit.category ?? ''])
  const table = rows.length === 0 ? '' : `${formatTable(['Tool', 'Description', 'Category'], rows, host.columns)}\n`
  host.out(`\nregistered ${where} - ${rows.length} tool(s)\n${table}`)
}

/** Reads all registered tools that are offered to agents, page by page. */
async function readAll(
  registry: RegistryClient,
  { source, status, executor, readiness }: ListFlags,
): Promise<readonly Hit[]> {
  if (source !== undefined && !source.includes('registry')) return []
  const all: Hit[] = []
  const input = { source: ['registry'], status, executor, readiness, level: 'summary', limit: 100 }
  let cursor: string | undefined
  do {
    const page = await registry.invoke(searchTools, { ...input, cursor })
    all.push(...(page.results ?? []))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return all
}

async function listConfigs(host: CliHost, flags: ListFlags, configs: readonly string[]): Promise<void> {
  const { source, status, executor, readiness } = flags
  rejectServerWithLocal({ ...flags, config: configs })
  const context = await host.open({ ...toOpenOptions(flags), configs })
  const answer = await invoke(listTools, { source, status, executor, readiness }, context)
  if (flags.json) return host.out(toJson(answer))
  const rows = answer.tools.map(({ name, description, command: runs, args, readiness: state }) => {
    const argTexts = args.map((arg) => (arg.notes.length === 0 ? arg.name : `${arg.name} [${arg.notes.join(', ')}]`))
    const what = state === undefined ? description : `${description} (${readinessText(state)})`
    return [name, what, runs, argTexts.join('\n') || 'none']
  })
  const title = `${answer.name} - ${rows.length} tool(s)`
  const runner = answer.executor === null ? '' : `Executor: ${answer.executor}\n`
  host.out(`${title}\n${runner}\n${formatTable(['Tool', 'Description', 'Command', 'Arguments'], rows, host.columns)}\n`)
}
