import { createHash } from 'node:crypto'
import * as z from 'zod'

const name = '[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?'
const clause = '(?:===|==|~=|!=|<=|>=|<|>)[A-Za-z0-9.*+!_-]+'
const requirement = new RegExp(`^(${name})(?:\\[(${name}(?:,${name})*)\\])?(${clause}(?:,${clause})*)?$`)
const maxPackages = 50

const withoutSpaces = (text: string): string => text.replaceAll(/[ \t]/g, '')

/** One package of a Python tool: a name with extras and versions, never an option, path or URL of pip. */
const Dependency = z
  .string()
  .max(200)
  .refine(
    (text) => requirement.test(withoutSpaces(text)),
    'must be a package name, with versions if needed, such as requests==2.32.3 or httpx[http2]>=0.27,<1; ' +
      'options, URLs, paths and markers are not accepted',
  )

/** The packages that a Python tool imports. */
export const Dependencies = z.array(Dependency).min(1).max(maxPackages)

/** The same list in one spelling and order, without duplicates. */
export function normalizeDependencies(list: readonly string[]): readonly string[] {
  const spelled = list.map((text) => {
    const [, packageName = '', extras, versions = ''] = requirement.exec(withoutSpaces(text)) ?? []
    const names = extras?.split(',').map(normalizeName).sort().join(',')
    return `${normalizeName(packageName)}${names === undefined ? '' : `[${names}]`}${versions.split(',').sort().join(',')}`
  })
  return [...new Set(spelled)].sort()
}

const normalizeName = (text: string): string => text.toLowerCase().replaceAll(/[-_.]+/g, '-')

/** The name of the environment for a list of packages; equal lists share one. */
export const environmentNameOf = (list: readonly string[]): string =>
  `deps-${createHash('sha256').update(normalizeDependencies(list).join('\n')).digest('hex').slice(0, 16)}`

/** The command that installs a list of packages on a host. */
export const buildCommand = (list: readonly string[]): string =>
  `tooldex envs build ${normalizeDependencies(list)
    .map((text) => `'${text}'`)
    .join(' ')}`
