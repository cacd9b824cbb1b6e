import { join } from 'node:path'
import * as z from 'zod'
import { Environments } from '../../executors/python/environments.ts'
import { Dependencies } from '../../executors/python/packages.ts'
import { processEnv, readSetting } from '../../rules/settings.ts'
import { tooldexHome } from '../../sources/cli/index.ts'
import { defineOperation } from '../operation.ts'

const PythonEnvironment = z.object({
  name: z.string(),
  folder: z.string(),
  fingerprint: z.string(),
  dependencies: z.array(z.string()).readonly().optional().describe('The packages it was built from.'),
})

/** The folder of the Python environments of this machine. */
export const environmentsFolder = (env: NodeJS.ProcessEnv): string =>
  readSetting('TOOLDEX_PYTHON_ENVS', env) ?? join(tooldexHome(env), 'envs')

const openEnvironments = () => new Environments(environmentsFolder(processEnv))

/** Lists the Python environments of this machine. */
export const listEnvironments = defineOperation({
  name: 'environments.list',
  summary: 'List the Python environments of this machine.',
  scope: 'read',
  input: z.object({}),
  output: z.object({ items: z.array(PythonEnvironment) }),
  handle: () => ({ items: [...openEnvironments().list()] }),
})

/** Adds existing packages as an environment. */
export const addEnvironment = defineOperation({
  name: 'environments.add',
  summary: 'Add the packages of a folder, or of a virtual environment, as a Python environment.',
  scope: 'admin',
  input: z.object({
    name: z.string(),
    path: z.string().min(1).describe('Folder created by: pip install --target PATH PACKAGE...'),
  }),
  output: PythonEnvironment,
  handle: ({ name, path }) => openEnvironments().add(name, path),
})

/** Builds an environment from dependencies. */
export const buildEnvironment = defineOperation({
  name: 'environments.build',
  summary: 'Build a Python environment from a list of dependencies.',
  scope: 'admin',
  input: z.object({
    dependencies: Dependencies.describe(
      'Requirements such as requests==2.32.3; pip settings apply (PIP_INDEX_URL, PIP_FIND_LINKS).',
    ),
  }),
  output: PythonEnvironment,
  handle: ({ dependencies }, { signal }) => openEnvironments().build(dependencies, { env: processEnv, signal }),
})

/** Removes an environment. */
export const removeEnvironment = defineOperation({
  name: 'environments.remove',
  summary: 'Remove a Python environment; packages that were added from a folder stay there.',
  scope: 'admin',
  input: z.object({ name: z.string() }),
  output: PythonEnvironment,
  handle: ({ name }) => openEnvironments().remove(name),
})
