import * as environments from '../../../operations/server/python-environments.ts'
import type { AddCommand } from './command.ts'
import { operationCommands, tableText } from './operation-command.ts'

/** `tooldex envs`: the package environments for Python tools on this machine. */
export const addEnvs: AddCommand = (program, host) => {
  const add = operationCommands(program.command('envs'), host)
  add({
    line: 'list',
    operation: environments.listEnvironments,
    isLocal: true,
    text: tableText(
      {
        name: ({ name }) => name,
        state: ({ fingerprint }) => fingerprint,
        'folder or packages': ({ dependencies, folder }) => dependencies?.join(' ') ?? folder,
      },
      'No environments. Install packages with: tooldex envs build PACKAGE, or name a folder with: tooldex envs add NAME PATH',
    ),
  })
  add({
    line: 'add <name> <path>',
    about: 'register a package folder or a virtual environment under a name',
    operation: environments.addEnvironment,
    isLocal: true,
    text: ({ name, folder, fingerprint }) => `${name} is ${folder} (${fingerprint}).\n`,
  })
  add({
    line: 'build <packages...>',
    about: 'install the packages that Python tools list as dependencies',
    operation: environments.buildEnvironment,
    fields: ['dependencies'],
    isLocal: true,
    text: ({ name, dependencies, fingerprint }) => `${name} has ${dependencies?.join(', ')} (${fingerprint}).\n`,
  })
  add({
    line: 'remove <name>',
    operation: environments.removeEnvironment,
    isLocal: true,
    text: ({ name }) => `${name} is removed.\n`,
  })
}
