import { join } from 'node:path'
import { lazyModule, lazyValue } from '../base/lazy-module.ts'
import { createLogger, type Logger } from '../base/logger.ts'
import { encoderFile, packageVersion } from '../base/package-info.ts'
import type { CliConfig, Source } from '../contract/cli-config.ts'
import type { Executor, RunnableTool } from '../contract/executor.ts'
import type { ExecutorKindName, GrantsOf } from '../contract/executor-kinds.ts'
import type { Policy } from '../contract/policy.ts'
import type { SecretScope } from '../contract/secret.ts'
import { type Tracing, untraced } from '../contract/telemetry.ts'
import { createCliExecutor } from '../executors/cli/cli-executor.ts'
import type { Sandbox } from '../executors/index.ts'
import { createProgramExecutor } from '../executors/program/program-executor.ts'
import { LiveCatalog } from '../operations/catalog/live-catalog.ts'
import { ExperienceFile } from '../operations/learning/experience.ts'
import { SearchMemory } from '../operations/learning/search-memory.ts'
import type { ProcessContext } from '../operations/operation.ts'
import { checkBoundValues, requireGrants } from '../policy/index.ts'
import { processEnv, readSetting, withoutCredentials } from '../rules/settings.ts'
import { createRunner, slotsFor } from '../runs/create-runner.ts'
import { IdempotencyKeys } from '../runs/idempotency-keys.ts'
import { type Embedder, loadEncoder } from '../search/encoder.ts'
import { RemoteEmbedder } from '../search/remote-embedder.ts'
import { cacheRedactors } from '../secrets/redact-values.ts'
import {
  ConfigCache,
  createCliSource,
  listBundledNames,
  listConfigNames,
  tooldexHome,
  userConfigsDir,
} from '../sources/cli/index.ts'
import type { OpenOptions } from '../surfaces/cli/index.ts'

/** Further parts of a process with a database, or of a program. */
export interface MoreParts {
  readonly executors?: Partial<Readonly<Record<ExecutorKindName, Executor>>>
  readonly openSecrets?: (workspace: string) => SecretScope
  readonly sandbox?: Sandbox
  /** The grants of each workspace; all if absent. */
  readonly grantsOf?: GrantsOf
  /** Wraps an executor so that the launcher starts its processes. */
  readonly wrap?: (executor: Executor) => Executor
  /** Configs that are loaded already, beside those with a name. */
  readonly loaded?: readonly CliConfig[]
  /** The policy of a program, which takes the place of a file. */
  readonly ownPolicy?: Policy | undefined
  readonly logger?: Logger
  /** Whether nothing is written to TOOLDEX_HOME. */
  readonly keepsNothing?: boolean
}

/** Composes the parts of a process that works on configs, without a database. */
export function composeProcess(
  options: OpenOptions,
  more: MoreParts = {},
): ProcessContext & { loadEmbedder: () => Embedder | undefined } {
  const env = processEnv
  const logger = more.logger ?? openLogger(options)
  const named = options.configs ?? listConfigNames(env)
  const files = createCliSource(options.bundled ? [...new Set([...named, ...listBundledNames()])] : named, {
    env,
    folder: options.homeConfigs ? userConfigsDir(env) : undefined,
    cache: more.keepsNothing ? undefined : new ConfigCache(join(tooldexHome(env), 'cache', 'configs')),
  })
  const source = withLoaded(files, more.loaded ?? [])
  const loadEmbedder = lazyValue(() => openEncoder(logger))
  const catalog = new LiveCatalog({
    source,
    policyFile: options.policy,
    policy: more.ownPolicy,
    logger,
    loadEmbedder,
    remote: openRemote(logger),
    readinessOf: (tool) => executors[tool.executorType]?.readiness(tool),
    secretsOf: (tool) => executors[tool.executorType]?.secretsOf?.(tool),
    isolationOf: (tool) =>
      options.scope === 'service' ? executors[tool.executorType]?.isolationOf?.(tool) : undefined,
  })
  const keeper =
    readSetting('TOOLDEX_LEARNING') && !more.keepsNothing
      ? new ExperienceFile(join(tooldexHome(env), 'learned.jsonl'))
      : undefined
  const memory = new SearchMemory({ keeper, loadEmbedder })
  const executor = createCliExecutor({
    // Reading process.env costs more for each variable than the rest of a call; a server uses a copy.
    env: options.scope === 'service' ? withoutCredentials(env) : env,
    scope: options.scope ?? 'user',
    where: () => catalog.current().policy?.executor,
    limitFiles: true,
    limited: options.limited,
    sandbox: more.sandbox,
    containment: options.containment,
    limits: {
      ...(options.maxOutput === undefined ? {} : { outputBytes: options.maxOutput }),
      ...(options.maxFile === undefined ? {} : { fileBytes: options.maxFile }),
    },
  })
  const executors: MoreParts['executors'] & object = {
    program: createProgramExecutor(),
    ...more.executors,
    cli: more.wrap?.(executor) ?? executor,
  }
  const tracing = openTracing()
  const runner = createRunner({
    executors,
    openSecrets: more.openSecrets,
    grantsFor: more.grantsOf && grantsFrom(more.grantsOf),
    ...slotsFor({ ...options, isShared: options.scope === 'service' }),
    checkBoundValues,
    redactorFor: cacheRedactors(env),
    maxMs: options.maxMs,
    tracing,
    logger,
  })
  // The user who starts this process owns the tools; only servers have keys and scopes.
  const scopes = new Set(['read', 'call', 'write', 'admin'] as const)
  const caller = { workspace: 'default', actor: 'owner' }
  const { codeMode } = options
  return {
    catalog,
    runner,
    keys: new IdempotencyKeys(),
    memory,
    logger,
    scopes,
    codeMode,
    caller,
    loadEmbedder,
    tracing,
  }
}

/** Adds configs that are loaded already to a source. */
const withLoaded = (source: Source, loaded: readonly CliConfig[]): Source =>
  loaded.length === 0
    ? source
    : {
        ...source,
        load() {
          const { configs, failures } = source.load()
          const own = loaded.map((config) => ({ name: config.name, file: config.name, config, warnings: [] }))
          return { configs: [...configs, ...own], failures }
        },
      }

const grantsFrom = (grantsOf: GrantsOf) => (tool: RunnableTool, workspace: string) =>
  requireGrants(tool, workspace, grantsOf)

/** Without the encoder, search uses words only, and a warning is logged once. */
function openEncoder(logger: Logger): Embedder | undefined {
  try {
    return loadEncoder(encoderFile)
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown error'
    logger.warn(`The encoder could not be loaded; search uses words only (${reason}).`)
    return undefined
  }
}

/** TOOLDEX_EMBEDDINGS_URL replaces the encoder by a service. */
function openRemote(logger: Logger): RemoteEmbedder | undefined {
  const url = readSetting('TOOLDEX_EMBEDDINGS_URL')
  if (url === undefined) return undefined
  return new RemoteEmbedder({
    url,
    model: readSetting('TOOLDEX_EMBEDDINGS_MODEL'),
    apiKey: readSetting('TOOLDEX_EMBEDDINGS_KEY'),
    cacheFolder: join(tooldexHome(), 'cache', 'embeddings'),
    onFailure: (reason) => logger.warn(`Search uses words only: ${reason}`),
  })
}

function openLogger({ logLevel }: OpenOptions): Logger {
  return createLogger({ level: logLevel ?? 'WARNING', file: readSetting('TOOLDEX_LOG_FILE') })
}

/** The key under which an OpenTelemetry SDK registers, in any copy of the API. */
const registered = Symbol.for('opentelemetry.js.api.1')

/** Records spans if an OpenTelemetry SDK was loaded with `node --import`; otherwise nothing is loaded. */
function openTracing(): Tracing {
  if (!(registered in globalThis)) return untraced
  const load = lazyModule(async () => (await import('../telemetry/index.ts')).createTracing(packageVersion()))
  return {
    async inSpan(name, options, work) {
      return (await load()).inSpan(name, options, work)
    },
  }
}
