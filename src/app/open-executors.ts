import { join } from 'node:path'
import { TooldexError, toTooldexError } from '../base/errors.ts'
import { ensureFolder } from '../base/home-files.ts'
import type { Logger } from '../base/logger.ts'
import { watchFiles } from '../base/watch-files.ts'
import type { Executor } from '../contract/executor.ts'
import type { GrantsOf } from '../contract/executor-kinds.ts'
import type { HttpServer, McpServer } from '../contract/mcp-server.ts'
import type { SecretBox, SecretScope } from '../contract/secret.ts'
import type { SignInClient } from '../contract/sign-in.ts'
import type { SourceRef, SourceServers } from '../contract/source.ts'
import type { Stores } from '../contract/stores.ts'
import {
  Environments,
  loadServers,
  type McpExecutor,
  type McpExecutorOptions,
  openExecutorOfEachKind,
  readAllowedFolders,
  Sandbox,
  Shield,
  SignIns,
  type SourceAccess,
  splitFolderList,
} from '../executors/index.ts'
import { createToolCheck } from '../operations/checks/check-tool.ts'
import { secretKeySourceOf } from '../operations/registry/secret-key.ts'
import { environmentsFolder } from '../operations/server/python-environments.ts'
import { SourceKeeper } from '../operations/sources/source-keeper.ts'
import { readGrants, requireServerGrants } from '../policy/index.ts'
import { approvalHash } from '../rules/server-definition.ts'
import { readSetting } from '../rules/settings.ts'
import { createRedactor, createSecretBox, openSecrets } from '../secrets/index.ts'
import { tooldexHome } from '../sources/cli/index.ts'
import type { OpenOptions } from '../surfaces/cli/index.ts'
import type { MoreParts } from './compose.ts'
import type { Launcher } from './launcher/launcher.ts'

/** Permissions of tools, and the number of warm interpreters. */
interface Allowed extends AllowedProcesses, Pick<OpenOptions, 'mcpServers' | 'grants'> {
  /** The MCP servers of a program, which take the place of the file. */
  readonly servers?: McpExecutorOptions['servers'] | undefined
  readonly warm?: number
}

/** The executors and secrets of a process with a database. */
export function openExecutors(stores: Stores, env: NodeJS.ProcessEnv, allowed: Allowed = {}, launcher?: Launcher) {
  const { secrets } = stores
  const box = createSecretBox(secretKeySourceOf(env))
  const grantsOf = readGrants([
    ...(readSetting('TOOLDEX_GRANTS', env) ?? '').split(' ').filter(Boolean),
    ...(allowed.grants ?? []),
  ])
  const find = (workspace: string, name: string) => secrets.find(workspace, name)
  const context = { env, box, find, grantsOf, home: tooldexHome(env) }
  const sandbox = openSandbox(env, allowed)
  // MCP servers belong to the machine, so they use the secrets of the default workspace.
  const { shield } = sandbox
  const { mcpServers, servers } = allowed
  const secretsOf = (workspace: string) => openSecrets(context, workspace)
  const upstreams = readUpstreams(env, openSecrets(context, 'default'), { mcpServers, servers, shield })
  const sources = sourceAccess(stores, { grantsOf, secretsOf, box })
  const executors = openExecutorOfEachKind({
    env,
    sandbox,
    environments: new Environments(environmentsFolder(env)),
    warm: launcher === undefined ? allowed.warm : 0,
    upstreams: { ...upstreams.options, sandbox, sources },
  })
  const { mcp } = executors as { readonly mcp: McpExecutor }
  const wrap = (executor: Executor): Executor => launcher?.wrap(executor) ?? executor
  const more: MoreParts = {
    wrap,
    executors: Object.fromEntries(Object.entries(executors).map(([kind, executor]) => [kind, wrap(executor)])),
    sandbox,
    grantsOf,
    openSecrets: secretsOf,
  }
  const offersFor = (workspace: string) => (grantsOf(workspace).includes('mcp') ? mcp.offers : undefined)
  const watchServers = (logger: Logger, signal: AbortSignal) => upstreams.watch(mcp, logger, signal)
  return {
    more,
    box,
    sandbox,
    mcp,
    check: createToolCheck(more),
    upstreams: offersFor,
    sources: toSourceServers(mcp, grantsOf, sources.signIns),
    watchServers,
    keepSources: (logger: Logger) => keepSources(mcp, stores, logger),
  }
}

/** Tests the sandbox at startup and logs the isolation level of tools. */
export async function logIsolation({ levels, shield }: Sandbox, logger: Logger): Promise<void> {
  const shielded = await shield?.selfTest.run()
  if (shielded !== undefined && 'reason' in shielded)
    logger.warn('Tools that run with limits only can read the memory and files of this server.', shielded)
  const { level, reasons } = await levels.best()
  const reason = reasons.join('; ')
  const tested = { isolated: levels.isolated.known, confined: levels.confined.known }
  const user = (known: typeof tested.isolated | typeof tested.confined) =>
    known !== undefined && 'made' in known ? known.made.user : undefined
  if (level === 'isolated') logger.info('Tools run isolated.', { by: 'bubblewrap', user: user(tested.isolated) })
  else if (level === 'confined')
    logger.warn('Tools run confined, not isolated.', { by: 'Landlock', user: user(tested.confined), reason })
  else if (levels.readiness(undefined).state === 'ready')
    logger.warn('Scripts and commands run with limits only: no sandbox is available.', { reason })
  else logger.warn('Scripts and commands are rejected: no sandbox is available.', { reason })
}

/** The MCP servers that a file of this machine defines. */
interface ReadUpstreams {
  readonly options: McpExecutorOptions
  /** Reloads the file on changes until the signal is aborted; an invalid file is logged and ignored. */
  watch(executor: McpExecutor, logger: Logger, signal: AbortSignal): void
}

/** Reads the MCP servers that the file defines now. */
function readUpstreams(
  env: NodeJS.ProcessEnv,
  secrets: SecretScope,
  { mcpServers, servers, shield }: Pick<Allowed, 'mcpServers' | 'servers'> & { readonly shield?: Shield | undefined },
): ReadUpstreams {
  const named = mcpServers ?? readSetting('TOOLDEX_MCP_SERVERS', env)
  const file = { path: named ?? join(tooldexHome(env), 'servers.json'), required: named !== undefined }
  const redactorFor = (declared: Readonly<Record<string, string>>) => createRedactor(declared, env)
  const reload = (executor: McpExecutor, logger: Logger): void => {
    try {
      executor.replaceServers(loadServers(file, env))
      logger.info('MCP servers reloaded', { file: file.path })
    } catch (thrown) {
      logger.error(`Reload rejected, the previous MCP servers stay: ${toTooldexError(thrown).message}`)
    }
  }
  return {
    options: { servers: servers ?? loadServers(file, env), env, secrets, redactorFor, shield },
    watch: (executor, logger, signal) => watchFiles([file.path], () => reload(executor, logger), signal),
  }
}

/** Permissions of the processes of tools. */
interface AllowedProcesses extends Pick<OpenOptions, 'allowLimited' | 'allowNetwork' | 'allowFolders' | 'maxOutput'> {
  /** Whether there are remote callers, so that this process hides itself from tools. */
  readonly hide?: boolean | undefined
}

/** Opens the sandbox with the permissions of the operator. */
export function openSandbox(
  env: NodeJS.ProcessEnv,
  { allowLimited, allowNetwork, allowFolders, maxOutput, hide }: AllowedProcesses,
): Sandbox {
  const folders = [...(allowFolders ?? []), ...splitFolderList(readSetting('TOOLDEX_ALLOW_FOLDERS', env) ?? '')]
  const shield = hide === true && readSetting('TOOLDEX_SHIELD', env) ? openShield(env) : undefined
  return new Sandbox({
    env,
    shield,
    allowLimited: allowLimited ?? readSetting('TOOLDEX_ALLOW_LIMITED', env),
    allowNetwork: allowNetwork ?? readSetting('TOOLDEX_ALLOW_NETWORK', env),
    folders: readAllowedFolders(folders, tooldexHome(env)),
    limits: maxOutput === undefined ? {} : { outputBytes: maxOutput },
  })
}

function openShield(env: NodeJS.ProcessEnv): Shield {
  const home = tooldexHome(env)
  ensureFolder(home)
  return new Shield({ env, hidden: home, shown: environmentsFolder(env) })
}

interface SourceParts {
  readonly grantsOf: GrantsOf
  readonly secretsOf: (workspace: string) => SecretScope
  readonly box: SecretBox
}

/** The stored sources for the executor of MCP tools: it starts only what is approved, and granted to its workspace. */
function sourceAccess({ sources, signIns }: Stores, parts: SourceParts) {
  const { grantsOf, secretsOf, box } = parts
  const find = async ({ workspace, name }: SourceRef): Promise<McpServer> => {
    const source = await sources.summary(workspace, name)
    if (source === undefined)
      throw new TooldexError('UPSTREAM_UNKNOWN', `There is no source '${name}'.`, {
        hint: 'It was removed; list the sources with: tooldex sources',
      })
    const { server, approvedHash } = source
    requireServerGrants(server, workspace, grantsOf)
    if (approvedHash === approvalHash(server)) return server
    throw new TooldexError('UPSTREAM_UNKNOWN', `The command or URL of the source '${name}' is not approved.`, {
      hint: `Check and approve it with: tooldex sources approve ${name}`,
    })
  }
  const findUrl = async (ref: SourceRef): Promise<HttpServer> => {
    const server = await find(ref)
    if ('url' in server) return server
    throw new TooldexError('INPUT_INVALID', `The source '${ref.name}' is a program, which needs no sign-in.`, {
      hint: 'Only servers with a URL have a sign-in.',
    })
  }
  return {
    secretsOf,
    find,
    signIns: new SignIns({ store: signIns, box, secretsOf, find: findUrl }),
    onAttempt(ref, reason, needsSignIn) {
      const need = needsSignIn ? { needsSignIn } : {}
      const failure = reason === undefined ? null : { at: new Date().toISOString(), reason, ...need }
      // The state is for display only.
      void sources.noteAttempt(ref, failure).catch(() => {})
    },
  } satisfies SourceAccess
}

/** Compares the definitions of servers with the accepted ones, whenever they may have changed. */
export function keepSources(mcp: Pick<McpExecutor, 'upstreams'>, stores: Stores, logger: Logger): void {
  const { sources } = mcp.upstreams
  if (sources === undefined) return
  const keeper = new SourceKeeper({ stores, servers: sources, logger })
  sources.onDefinitions = (ref) => keeper.check(ref)
}

/** The servers of sources for operations. */
function toSourceServers(
  { upstreams }: Pick<McpExecutor, 'upstreams'>,
  grantsOf: GrantsOf,
  signIns: SignInClient,
): SourceServers | undefined {
  const { sources } = upstreams
  if (sources === undefined) return undefined
  return {
    requireGrants: (workspace, server) => requireServerGrants(server, workspace, grantsOf),
    read: (ref, signal, actor) => sources.read(ref, signal, actor),
    request: (ref, method, request, actor) => sources.request(ref, method, request, actor),
    stateOf: (ref) => sources.stateOf(ref),
    stop: (ref, caller) => sources.stop(ref, caller),
    signIns,
  }
}
