import { invoke } from '../../../operations/invoke.ts'
import {
  addEnvironment,
  buildEnvironment,
  listEnvironments,
  removeEnvironment,
} from '../../../operations/server/python-environments.ts'
import { formatTable } from '../format-table.ts'
import { type AddCommand, toJson } from './command.ts'

/** `tooldex envs`: the package environments for Python tools on this machine. */
export const addEnvs: AddCommand = (program, host) => {
  const envs = program.command('envs')
  const context = () => host.open({ configs: [] })
  envs
    .command('list')
    .description('list environments')
    .option('--json', 'print JSON')
    .action(async (flags: { json?: boolean }) => {
      const answer = await invoke(listEnvironments, {}, await context())
      const rows = answer.items.map(({ name, folder, fingerprint, dependencies }) => [
        name,
        fingerprint,
        dependencies?.join(' ') ?? folder,
      ])
      const text =
        rows.length === 0
          ? 'No environments.\n'
          : `${formatTable(['name', 'state', 'folder or packages'], rows, host.columns)}\n`
      host.out(flags.json ? toJson(answer) : text)
    })
  envs
    .command('add')
    .description('register a package folder or a virtual environment under a name')
    .argument('<name>')
    .argument('<path>', 'folder created by: pip install --target PATH PACKAGE...')
    .action(async (name: string, path: string) => {
      const added = await invoke(addEnvironment, { name, path }, await context())
      host.out(`${added.name} is ${added.folder} (${added.fingerprint}).\n`)
    })
  envs
    .command('build')
    .description('install the packages that Python tools list as dependencies')
    .argument(
      '<packages...>',
      'requirements such as requests==2.32.3; pip settings apply (PIP_INDEX_URL, PIP_FIND_LINKS)',
    )
    .action(async (dependencies: string[]) => {
      const built = await invoke(buildEnvironment, { dependencies }, await context())
      host.out(`${built.name} has ${built.dependencies?.join(', ')} (${built.fingerprint}).\n`)
    })
  envs
    .command('remove')
    .description('remove an environment; the files of an added folder are kept')
    .argument('<name>')
    .action(async (name: string) => {
      const removed = await invoke(removeEnvironment, { name }, await context())
      host.out(`${removed.name} is removed.\n`)
    })
}
