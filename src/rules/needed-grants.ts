import type { Grant } from '../contract/executor-kinds.ts'
import { findExecutorKind } from '../contract/executor-kinds.ts'

/** A grant that a tool needs, and the field of the tool that requires it. */
export interface NeededGrant {
  readonly grant: Grant
  /** Below `executorConfig`; empty where the executor type itself requires the grant. */
  readonly path: readonly (string | number)[]
}

/** The fields that determine the grants a tool needs. */
interface Definition {
  readonly executorType: string
  readonly executorConfig: Readonly<Record<string, unknown>>
}

/** Every grant that a registered tool needs. */
export function neededGrants({ executorType, executorConfig: config }: Definition): readonly NeededGrant[] {
  const { grant, expandsVariables } = findExecutorKind(executorType) ?? {}
  const needs = secretGrants(config)
  if (grant !== undefined) needs.push({ grant, path: [] })
  if (config.allowPrivate === true) needs.push({ grant: 'private', path: ['allowPrivate'] })
  if (config.isolation === 'confined' || config.isolation === 'limited')
    needs.push({ grant: 'host', path: ['isolation'] })
  if (executorType === 'python')
    for (const key of ['environment', 'dependencies'])
      if (config[key] != null) needs.push({ grant: 'packages', path: [key] })
  if (config.network === true) needs.push({ grant: 'network', path: ['network'] })
  for (const key of ['cwd', 'workingDir', 'root', 'paths'])
    if (config[key] != null && !ownFolder.test(String(config[key]))) needs.push({ grant: 'folders', path: [key] })
  return expandsVariables === true ? [...needs, ...rootGrants(config), ...variableGrants(config)] : needs
}

/** Paths are checked on the machine itself, so the root of an argument is a folder of it. */
const rootGrants = ({ args }: Definition['executorConfig']): readonly NeededGrant[] =>
  rootsOf(args).flatMap((root, index) =>
    root == null || ownFolder.test(String(root)) ? [] : [{ grant: 'folders', path: ['args', index, 'root'] }],
  )

const rootsOf = (args: unknown): readonly unknown[] =>
  ((args ?? []) as readonly { root?: unknown }[]).map(({ root }) => root)

/** Private folders of every sandbox. */
export const ownFolder = /^\/(work|tmp)$/

type Located = readonly (readonly [readonly (string | number)[], unknown])[]

/** The values of an executor config that may be references to secrets. */
function valuesOf({ env, auth }: Definition['executorConfig']): Located {
  const variables = Object.entries((env ?? {}) as Record<string, unknown>)
  return [...variables.map(([name, value]) => [['env', name], value] as const), ...authSecrets(auth)]
}

/** The references of an executor config to secrets, in one spelling. */
export function secretReferences(config: Definition['executorConfig']): readonly string[] {
  const inAuth = new Set(authSecrets(config.auth).map(([, value]) => value))
  return valuesOf(config).flatMap(([, value]) => {
    if (typeof value !== 'string' || value === '') return []
    if (/^(?:secret|env|file):/.test(value)) return [value]
    return inAuth.has(value) ? [`secret:${value}`] : []
  })
}

function secretGrants(config: Definition['executorConfig']): NeededGrant[] {
  return valuesOf(config).flatMap(([path, value]): NeededGrant[] => {
    const [, kind] = /^(env|file):/.exec(String(value)) ?? []
    return kind === undefined ? [] : [{ grant: kind === 'env' ? 'env' : 'files', path }]
  })
}

/** The secrets of one way to authenticate, or of several at once. */
function authSecrets(auth: unknown): Located {
  const secretOf = (each: unknown) => (each as { secret?: unknown } | null | undefined)?.secret
  if (!Array.isArray(auth)) return [[['auth', 'secret'], secretOf(auth)]]
  return auth.map((each, index) => [['auth', index, 'secret'], secretOf(each)])
}

const variable = /\$\{?[A-Za-z_]/

/** Commands are expanded with environment variables of the server. */
function variableGrants({ inheritEnv, args, ...config }: Definition['executorConfig']): readonly NeededGrant[] {
  const { baseCommand, globalArgs, env, workingDir, root } = config
  const expanded = Object.entries({ baseCommand, globalArgs, env, workingDir, root, args: rootsOf(args) })
  const keys = expanded.filter(([, value]) => variable.test(JSON.stringify(value ?? ''))).map(([key]) => key)
  const inherits = inheritEnv === true || (Array.isArray(inheritEnv) && inheritEnv.length > 0)
  return [...keys, ...(inherits ? ['inheritEnv'] : [])].map((key) => ({ grant: 'env', path: [key] }))
}
