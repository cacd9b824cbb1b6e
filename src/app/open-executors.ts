import type { Logger } from '../base/logger.ts'
import { readNumberSetting } from '../base/number-settings.ts'
import type { Executor } from '../contract/executor.ts'
import type { Stores } from '../contract/stores.ts'
import { createHttpExecutor } from '../executors/http/http-executor.ts'
import {
  createPythonExecutor,
  createShellExecutor,
  defaultWarm,
  Environments,
  type Sandbox,
} from '../executors/index.ts'
import { environmentsFolder } from '../operations/server/python-environments.ts'
import { readGrants } from '../policy/index.ts'
import { createSecretBox, openSecrets } from '../secrets/index.ts'
import { tooldexHome } from '../sources/cli/index.ts'
import type { OpenOptions } from '../surfaces/cli/index.ts'
import { createCheck } from './check-registered.ts'
import type { MoreParts } from './compose.ts'
import type { Launcher } from './launcher/launcher.ts'
import { type AllowedProcesses, openSandbox } from './open-sandbox.ts'
import { openUpstreams } from './open-upstreams.ts'
import { secretKeyOf } from './secret-key.ts'

/** What the operator allows, and how many interpreters wait for work. */
interface Allowed extends AllowedProcesses, Pick<OpenOptions, 'mcpServers' | 'grants'> {
  readonly warm?: number
}

/** The executors and secrets of a process with a database. */
export function openExecutors({ secrets }: Stores, env: NodeJS.ProcessEnv, allowed: Allowed = {}, hand?: Launcher) {
  const box = createSecretBox(secretKeyOf(env))
  const grantsOf = readGrants([...(env.TOOLDEX_GRANTS ?? '').split(' ').filter(Boolean), ...(allowed.grants ?? [])])
  const find = (workspace: string, name: string) => secrets.find(workspace, name)
  const places = { env, box, find, grantsOf, home: tooldexHome(env) }
  const sandbox = openSandbox(env, allowed)
  const environments = new Environments(environmentsFolder(env))
  const hold = (executor: Executor): Executor => hand?.hold(executor) ?? executor
  // Servers belong to the machine, and so their secrets are those of the workspace that is there from the start.
  const { shield } = sandbox
  const upstreams = openUpstreams(env, openSecrets(places, 'default'), { mcpServers: allowed.mcpServers, shield })
  const more: MoreParts = {
    hold,
    executors: {
      http: createHttpExecutor(),
      python: hold(createPythonExecutor({ sandbox, env, environments, warm: hand === undefined ? allowed.warm : 0 })),
      shell: hold(createShellExecutor({ sandbox, env })),
      mcp: upstreams.executor,
    },
    sandbox,
    grantsOf,
    openSecrets: (workspace) => openSecrets(places, workspace),
  }
  return { more, box, sandbox, check: createCheck(more), watchServers: upstreams.watch }
}

/** How many interpreters a server keeps ready. */
export function warmSandboxes(env: NodeJS.ProcessEnv): number {
  return readNumberSetting(env, 'TOOLDEX_PYTHON_WARM') ?? defaultWarm.most
}

/** Tests the sandbox when a server starts, and says what tools will get. */
export async function logIsolation({ levels, shield }: Sandbox, logger: Logger): Promise<void> {
  const shielded = await shield?.selfTest.run()
  if (shielded !== undefined && 'reason' in shielded)
    logger.warn('tools that run with limits only can read the memory and files of this server', shielded)
  const { level, reasons } = await levels.best()
  const reason = reasons.join('; ')
  const made = { isolated: levels.isolated.known, confined: levels.confined.known }
  const user = (known: typeof made.isolated | typeof made.confined) =>
    known !== undefined && 'made' in known ? known.made.user : undefined
  if (level === 'isolated') logger.info('tools run isolated', { by: 'bubblewrap', user: user(made.isolated) })
  else if (level === 'confined')
    logger.warn('tools run confined, not isolated', { by: 'Landlock', user: user(made.confined), reason })
  else if (levels.readiness(undefined).state === 'ready')
    logger.warn('scripts and commands run with limits only: no sandbox', { reason })
  else logger.warn('scripts and commands are refused: no sandbox', { reason })
}
