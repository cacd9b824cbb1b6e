import { invoke } from '../../../operations/invoke.ts'
import { listTools } from '../../../operations/list-tools.ts'
import { formatTable } from '../format-table.ts'
import { type AddCommand, type ToolOptions, toJson, toOpenOptions, withToolOptions } from './command.ts'

/** `tooldex list [CONFIG...]`: the bundled configs, or the tools of some. */
export const addList: AddCommand = (program, host) => {
  const command = program
    .command('list')
    .description('the configs that can be named, or the tools of those given')
    .argument('[config...]', 'names of configs, or YAML files')
  withToolOptions(command).action(async (names: string[], flags: ToolOptions) => {
    const configs = [...names, ...(flags.config ?? [])]
    if (configs.length === 0) {
      const known = host.configNames()
      return host.out(flags.json ? toJson({ configs: known }) : `${known.join('\n')}\n`)
    }
    const answer = await invoke(listTools, {}, host.open({ ...toOpenOptions(flags), configs }))
    if (flags.json) return host.out(toJson(answer))
    const rows = answer.tools.map(({ name, description, command: runs, args }) => {
      const shown = args.map((arg) => (arg.notes.length === 0 ? arg.name : `${arg.name} [${arg.notes.join(', ')}]`))
      return [name, description, runs, shown.join('\n') || 'none']
    })
    const title = `${answer.name} - ${rows.length} tool(s)`
    const executor = answer.executor === null ? '' : `Executor: ${answer.executor}\n`
    host.out(
      `${title}\n${executor}\n${formatTable(['Tool', 'Description', 'Command', 'Arguments'], rows, host.columns)}\n`,
    )
  })
}
