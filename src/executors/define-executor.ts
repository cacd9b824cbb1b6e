import type * as z from 'zod'
import { TooldexError } from '../base/errors.ts'
import { isObject } from '../base/json-values.ts'
import type { Readiness } from '../contract/catalog.ts'
import type { Scalar } from '../contract/cli-config.ts'
import type {
  ArgValue,
  BoundValues,
  Executor,
  Job,
  PreparedRun,
  RunnableTool,
  Uncheckable,
} from '../contract/executor.ts'
import type { ExecutorKindName } from '../contract/executor-kinds.ts'
import type { Isolation } from '../contract/run.ts'

/** A call with the config of its tool. */
export interface Call<Config> extends Job {
  readonly config: Config
  readonly deadlineMs: number
}

/** An executor on configs that are valid: the schema of the configs, and what one call is derived to. */
export interface ExecutorDefinition<Config> extends Pick<Executor, 'check' | 'close'> {
  readonly kind: ExecutorKindName
  readonly config: z.ZodType<Config>
  /** The config of a tool whose source has parsed it already. */
  readonly parsed?: (tool: RunnableTool) => Config | undefined
  /** The deadline of a call that requests none. */
  readonly deadlineMs: (config: Config) => number
  readonly readiness: (config: Config, tool: RunnableTool) => Readiness
  readonly secretsOf?: (config: Config) => readonly string[]
  readonly isolationOf?: (config: Config, tool: RunnableTool) => Isolation | undefined
  /** Derives the work of a call; the bounds are the arguments where absent. */
  readonly prepare: (call: Call<Config>) => Pick<PreparedRun, 'plan' | 'run'> & Partial<Pick<PreparedRun, 'bound'>>
}

// A timer set for longer than this fires at once.
const maxTimerMs = 2 ** 31 - 1

/** Creates an executor: it parses each config once, and derives each call once. */
export function defineExecutor<Config>(definition: ExecutorDefinition<Config>): Executor {
  const { kind, check, close } = definition
  const configs = new WeakMap<object, { readonly data?: Config | undefined }>()
  const configOf = (tool: RunnableTool): Config | undefined => {
    const known = definition.parsed?.(tool)
    if (known !== undefined) return known
    const parsed = configs.get(tool.executorConfig) ?? definition.config.safeParse(tool.executorConfig)
    configs.set(tool.executorConfig, parsed)
    return parsed.data
  }
  return {
    kind,
    readiness(tool) {
      const config = configOf(tool)
      return config === undefined ? invalid(tool) : definition.readiness(config, tool)
    },
    secretsOf(tool) {
      const config = configOf(tool)
      return config === undefined ? [] : (definition.secretsOf?.(config) ?? [])
    },
    isolationOf(tool) {
      const config = configOf(tool)
      return config === undefined ? undefined : definition.isolationOf?.(config, tool)
    },
    prepare(job) {
      const config = configOf(job.tool)
      if (config === undefined) throw new TooldexError('TOOL_INVALID', invalid(job.tool).reason)
      const wantedMs = job.timeoutMs ?? definition.deadlineMs(config)
      const deadlineMs = Math.min(wantedMs, job.maxMs ?? maxTimerMs, maxTimerMs)
      const { bound, plan, run } = definition.prepare({ ...job, config, deadlineMs })
      return { bound: bound ?? boundValues(job), deadlineMs, plan, run }
    },
    ...(check === undefined ? {} : { check }),
    ...(close === undefined ? {} : { close }),
  }
}

/** A stored tool may have a config of another release, which must not fail a list of tools. */
const invalid = ({ name }: RunnableTool) => ({
  state: 'needs-program' as const,
  reason: `${name} has an invalid config.`,
})

/** Derives the work of a call with its first use: a plan that follows a run is that of the run. */
export function deriveOnce<Work>(derive: () => Work): () => Work {
  let derived: { readonly work: Work } | undefined
  return () => {
    derived ??= { work: derive() }
    return derived.work
  }
}

/**
 * The arguments of a call as a policy checks them: an array by its items, if the tool declares one; objects and other arrays cannot
 * be checked. A null counts as a value unless it is the default, because a call without the argument means the same.
 */
export function boundValues({ tool, input }: Pick<Job, 'tool' | 'input'>): readonly BoundValues[] {
  const isOmitted = (name: string, value: unknown) =>
    value === undefined || (value === null && propertyOf(tool.inputSchema, name)?.default === null)
  const values = Object.entries(input).filter(([name, value]) => !isOmitted(name, value))
  return [new Map(values.map(([name, value]) => [name, toBound(value, propertyOf(tool.inputSchema, name))]))]
}

type Property = Readonly<Record<string, unknown>>

function propertyOf(schema: unknown, name: string): Property | undefined {
  const properties = isObject(schema) ? schema.properties : undefined
  const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  return isObject(property) ? property : undefined
}

function toBound(value: unknown, property: Property | undefined): ArgValue | null | Uncheckable {
  if (typeof value !== 'object' || value === null) return value as Scalar | null
  if (!Array.isArray(value)) return { uncheckable: 'an object' }
  const isFlat = value.every((item) => typeof item !== 'object' || item === null)
  return isFlat && isDeclaredArray(property) ? value.map(toScalar) : { uncheckable: 'an array' }
}

const composed = ['$ref', 'items', 'prefixItems', 'anyOf', 'oneOf', 'allOf']

function isDeclaredArray(property: Property = {}): boolean {
  const { type } = property
  return type === undefined ? composed.some((keyword) => keyword in property) : [type].flat().includes('array')
}

const toScalar = (value: unknown): Scalar => (value === null ? 'null' : (value as Scalar))
