import { invoke } from '../../../operations/invoke.ts'
import { listTools } from '../../../operations/list-tools.ts'
import { formatTable } from '../format-table.ts'
import {
  type AddCommand,
  type StateFlags,
  type ToolOptions,
  toJson,
  toOpenOptions,
  withStateFilters,
  withToolOptions,
} from './command.ts'

/** `tooldex list [CONFIG...]`: the bundled configs, or the tools of some. */
export const addList: AddCommand = (program, host) => {
  const command = program
    .command('list')
    .description('the configs that can be named, or the tools of those given')
    .argument('[config...]', 'names of configs, or YAML files')
  withToolOptions(withStateFilters(command)).action(async (names: string[], flags: ToolOptions & StateFlags) => {
    const configs = [...names, ...(flags.config ?? [])]
    if (configs.length === 0) {
      const known = host.configNames()
      return host.out(flags.json ? toJson({ configs: known }) : `${known.join('\n')}\n`)
    }
    const { source, status, readiness } = flags
    const answer = await invoke(
      listTools,
      { source, status, readiness },
      host.open({ ...toOpenOptions(flags), configs }),
    )
    if (flags.json) return host.out(toJson(answer))
    const rows = answer.tools.map(({ name, description, command: runs, args, readiness: state }) => {
      const shown = args.map((arg) => (arg.notes.length === 0 ? arg.name : `${arg.name} [${arg.notes.join(', ')}]`))
      const what = state === undefined ? description : `${description} (not ready: ${state.reason ?? state.state})`
      return [name, what, runs, shown.join('\n') || 'none']
    })
    const title = `${answer.name} - ${rows.length} tool(s)`
    const executor = answer.executor === null ? '' : `Executor: ${answer.executor}\n`
    host.out(
      `${title}\n${executor}\n${formatTable(['Tool', 'Description', 'Command', 'Arguments'], rows, host.columns)}\n`,
    )
  })
}
