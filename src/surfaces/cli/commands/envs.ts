import { invoke } from '../../../operations/invoke.ts'
import {
  addEnvironment,
  buildEnvironment,
  listEnvironments,
  removeEnvironment,
} from '../../../operations/server/python-environments.ts'
import { formatTable } from '../format-table.ts'
import { type AddCommand, toJson } from './command.ts'

/** `tooldex envs`: the sets of packages that Python tools of this machine can choose. */
export const addEnvs: AddCommand = (program, host) => {
  const envs = program.command('envs')
  const context = () => host.open({ configs: [] })
  envs
    .command('list')
    .description('their names, and where they are')
    .option('--json', 'print JSON for programs')
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
          : formatTable(['name', 'state', 'folder or packages'], rows, host.columns)
      host.out(flags.json ? toJson(answer) : text)
    })
  envs
    .command('add')
    .description('make a folder of packages, or a virtual environment, known under a name')
    .argument('<name>')
    .argument('<path>', 'made by: pip install --target PATH PACKAGE...')
    .action(async (name: string, path: string) => {
      const added = await invoke(addEnvironment, { name, path }, await context())
      host.out(`${added.name} is ${added.folder} (${added.fingerprint}).\n`)
    })
  envs
    .command('build')
    .description('install the packages that Python tools list as dependencies')
    .argument('<packages...>', 'such as requests==2.32.3; settings of pip apply (PIP_INDEX_URL, PIP_FIND_LINKS)')
    .action(async (dependencies: string[]) => {
      const built = await invoke(buildEnvironment, { dependencies }, await context())
      host.out(`${built.name} has ${built.dependencies?.join(', ')} (${built.fingerprint}).\n`)
    })
  envs
    .command('remove')
    .description('remove one; packages that were added from a folder stay there')
    .argument('<name>')
    .action(async (name: string) => {
      const gone = await invoke(removeEnvironment, { name }, await context())
      host.out(`${gone.name} is removed.\n`)
    })
}
