import { TooldexError } from '../../../base/errors.ts'
import type {
  ServerJson,
  ServerJsonArgument,
  ServerJsonPackage,
  ServerJsonRemote,
} from '../../../contract/server-json.ts'
import { toSourceName } from '../../clients/read-client-servers.ts'
import type { ServerInput } from '../server-input.ts'
import { InputFiller, type ProvidedValues } from './fill-inputs.ts'

/** A server of a `server.json` as the fields of a source. */
export interface RegistryServer {
  /** The name of the source. */
  readonly name: string
  readonly fields: ServerInput & { readonly secretNames?: string[] }
}

interface Choice extends ProvidedValues {
  readonly file: string
  /** The kind of package, or `remote`; the first that can be used where absent. */
  readonly package?: string | undefined
}

/** The fields of the chosen package or remote; the command is shown before it is approved, like any other. */
export function toRegistryServer(document: ServerJson, choice: Choice): RegistryServer {
  const filler = new InputFiller(choice)
  const wanted = choose(document, choice)
  const fields = 'url' in wanted ? fromRemote(wanted, filler, choice) : fromPackage(wanted, filler, choice)
  filler.finish(choice.file)
  return { name: toSourceName(document.name.slice(document.name.indexOf('/') + 1)), fields }
}

type Way = ServerJsonPackage | ServerJsonRemote

function choose({ packages, remotes }: ServerJson, { file, package: wanted }: Choice): Way {
  const newestFirst = remotes.toSorted((a, b) => Number(a.type === 'sse') - Number(b.type === 'sse'))
  const ways = [...packages, ...newestFirst].filter((way) => wanted === undefined || kindOf(way) === wanted)
  const found = ways.find((way) => problemOf(way) === undefined)
  if (found !== undefined) return found
  const kinds = [...new Set([...packages, ...remotes].map(kindOf))]
  const [step] = ways.flatMap((way) => ('url' in way ? [] : (otherSteps[way.registryType]?.(way) ?? [])))
  const reasons = ways.map((way) => `${kindOf(way)}: ${problemOf(way)}`)
  throw new TooldexError(
    'USAGE',
    `${file} has nothing that can be used${reasons.length === 0 ? '' : `: ${reasons.join('; ')}`}.`,
    {
      hint:
        step ??
        (wanted === undefined || kinds.includes(wanted)
          ? 'Add the server with its command: tooldex add NAME -- COMMAND, or with its URL: tooldex add NAME URL'
          : `Use --package with one of: ${kinds.join(', ')}.`),
    },
  )
}

const kindOf = (way: Way): string => ('url' in way ? 'remote' : way.registryType)

/** The programs that run packages, the usual one first. */
const runtimes: Readonly<Record<string, readonly [string, ...string[]]>> = {
  npm: ['npx', 'bunx'],
  pypi: ['uvx'],
  oci: ['docker', 'podman'],
  nuget: ['dnx'],
}

/** The next step for packages that no program runs by their names; their commands are added like any other. */
const otherSteps: Readonly<Record<string, (way: ServerJsonPackage) => string>> = {
  mcpb: ({ identifier, fileSha256 }) =>
    `Download ${identifier}${fileSha256 === undefined ? '' : `, compare its SHA-256 with ${fileSha256}`}, unpack it (zip), and add the command in server.mcp_config of its manifest.json: tooldex add NAME -- COMMAND`,
  cargo: ({ identifier, version }) =>
    `Run: cargo install --locked ${identifier}${version === undefined ? '' : `@${version}`}; then add the program: tooldex add NAME -- PROGRAM`,
}

/** The reason why a package or remote cannot be used. */
function problemOf(way: Way): string | undefined {
  if ('url' in way)
    return ['streamable-http', 'http', 'sse'].includes(way.type) ? undefined : `its transport is ${way.type}`
  const { registryType, runtimeHint, transport, version = '', fileSha256 } = way
  const known = runtimes[registryType]
  if (known === undefined)
    return `packages of the type ${registryType} are not ${registryType in otherSteps ? 'run by their names' : 'supported'}`
  if (way.identifier.startsWith('-')) return 'its identifier is an option'
  if (transport.type !== 'stdio') return `its transport is ${transport.type}`
  if (runtimeHint !== undefined && !known.includes(runtimeHint)) return `its runtime is ${runtimeHint}`
  if (/^latest$|[\^~<>=*|\s]/.test(version)) return `its version ${version} is not one version`
  return fileSha256 === undefined ? undefined : `${known[0]} cannot verify its fileSha256`
}

function fromRemote(
  { url, type, headers: declared, variables }: ServerJsonRemote,
  filler: InputFiller,
  provided: ProvidedValues,
): RegistryServer['fields'] {
  const filled = filler.fillText(url, variables)
  if (filled.isSecret) throw visibleSecret('its URL')
  const { headers: known = {}, secretNames } = namedValues('headers', declared, filler)
  const isKnown = (name: string) => declared.some((each) => each.name.toLowerCase() === name.toLowerCase())
  const others = Object.entries(provided.headers).filter(([name]) => !isKnown(name))
  const headers = { ...known, ...Object.fromEntries(others) }
  return {
    url: filled.text,
    ...(type === 'sse' ? { type: 'sse' as const } : {}),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(secretNames === undefined ? {} : { secretNames }),
  }
}

function fromPackage(
  wanted: ServerJsonPackage,
  filler: InputFiller,
  provided: ProvidedValues,
): RegistryServer['fields'] {
  const { registryType, runtimeHint, runtimeArguments, packageArguments, environmentVariables } = wanted
  const command = runtimeHint ?? runtimes[registryType]?.[0] ?? ''
  const own = runtimeArguments.flatMap((argument) => wordsOf(argument, filler))
  const words = packageArguments.flatMap((argument) => wordsOf(argument, filler))
  const { env: declared = {}, secretNames } = namedValues('env', environmentVariables, filler)
  const env = { ...declared, ...provided.env }
  const before = runtimeWords(wanted, own, Object.keys(env))
  // The runtime of NuGet packages takes its options after the package.
  const args =
    registryType === 'nuget'
      ? [packageWord(wanted), ...before, ...(words.length === 0 ? [] : ['--', ...words])]
      : [...before, packageWord(wanted), ...words]
  return {
    command,
    args,
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(secretNames === undefined ? {} : { secretNames }),
  }
}

const usualBases = new Set([
  'https://registry.npmjs.org',
  'https://pypi.org',
  'https://api.nuget.org',
  'https://api.nuget.org/v3/index.json',
])

/** The words before the package: nothing may ask a question, and a container gets the variables of the program. */
function runtimeWords(
  { registryType, registryBaseUrl }: ServerJsonPackage,
  own: readonly string[],
  env: readonly string[],
) {
  if (registryType === 'oci') {
    const variables = env.flatMap((name) => ['-e', name])
    return [...(own[0] === 'run' ? own : ['run', '-i', '--rm', ...own]), ...variables]
  }
  const base = registryBaseUrl?.replace(/\/+$/, '')
  const isUsual = base === undefined || usualBases.has(base)
  if (registryType === 'pypi') return [...(isUsual ? [] : ['--default-index', base]), ...own]
  if (registryType === 'nuget')
    return [...(own.includes('--yes') ? [] : ['--yes']), ...(isUsual ? [] : ['--source', base]), ...own]
  const yes = own.includes('-y') || own.includes('--yes') ? [] : ['-y']
  return [...yes, ...(isUsual ? [] : [`--registry=${base}`]), ...own]
}

/** The package with its version. */
function packageWord({ registryType, registryBaseUrl, identifier, version }: ServerJsonPackage): string {
  if (registryType !== 'oci') return version === undefined ? identifier : `${identifier}@${version}`
  const host =
    registryBaseUrl === undefined || /^[^/]*[.:][^/]*\//.test(identifier) ? '' : `${new URL(registryBaseUrl).host}/`
  const hasTag = identifier.includes('@') || /:[^/]*$/.test(identifier)
  return `${host}${identifier}${hasTag || version === undefined ? '' : `:${version}`}`
}

function wordsOf(argument: ServerJsonArgument, filler: InputFiller): readonly string[] {
  const name = argument.type === 'named' ? argument.name : argument.valueHint
  const values = filler.fill(argument, name)
  if (values.some(({ isSecret }) => isSecret)) throw visibleSecret(`the argument ${name ?? ''}`.trim())
  const shown = argument.isRepeated ? values : values.slice(0, 1)
  if (argument.type === 'positional') return shown.map(({ text }) => text)
  return shown.flatMap(({ text }) => (text === '' ? [argument.name] : [argument.name, text]))
}

/** The variables or headers with a value, and the names of those that are secrets. */
function namedValues(
  kind: 'env' | 'headers',
  declared: ServerJsonPackage['environmentVariables'],
  filler: InputFiller,
) {
  const filled = declared.flatMap(({ name, ...input }) => {
    const value = filler.fillNamed(kind, name, input)
    return value === undefined ? [] : [{ name, ...value }]
  })
  const secretNames = filled.filter(({ isSecret }) => isSecret).map(({ name }) => name)
  return {
    ...(filled.length === 0 ? {} : { [kind]: Object.fromEntries(filled.map(({ name, text }) => [name, text])) }),
    ...(secretNames.length === 0 ? {} : { secretNames }),
  } as { env?: Record<string, string>; headers?: Record<string, string>; secretNames?: string[] }
}

/** Arguments and URLs are stored, shown and logged as they are. */
const visibleSecret = (where: string): TooldexError =>
  new TooldexError('USAGE', `A secret is part of ${where}, which is stored and shown.`, {
    hint: 'Use another package or remote with --package, or add the server with its command.',
  })
