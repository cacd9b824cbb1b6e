import type { OperationInput } from 'tooldex/client'

type Input = OperationInput<'catalog.eval'>

/** The modes of search. */
export const modes = ['hybrid', 'bm25', 'embedding', 'substring'] as const

/** The kinds of executors that tools of a server have. */
export const executors = ['python', 'shell', 'http', 'mcp', 'cli'] as const

/** The settings of one side, as texts of a form; an empty text is the default of search. */
export const settingNames = [
  'mode',
  'minScore',
  'minFit',
  'limit',
  'toolset',
  'namespace',
  'category',
  'tag',
  'executor',
] as const
export type SettingName = (typeof settingNames)[number]
export type Settings = Readonly<Partial<Record<SettingName, string>>>

/** The settings in the query of a URL: `mode=bm25&limit=5`. */
export function readSettings(text: string): Settings {
  const found = new URLSearchParams(text)
  const entries = settingNames.map((name) => [name, found.get(name) ?? ''] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== ''))
}

export function writeSettings(settings: Settings): string {
  const entries = settingNames.map((name) => [name, settings[name] ?? ''] as const)
  return new URLSearchParams(entries.filter(([, value]) => value.trim() !== '').map((entry) => [...entry])).toString()
}

/** What differs between two sides, or the whole of a side that differs in nothing. */
export function labelOf(settings: Settings, other: Settings): string {
  const different = settingNames.filter((name) => (settings[name] ?? '') !== (other[name] ?? ''))
  const named = different.map((name) => `${labels[name] ?? name} ${settings[name] ?? defaultOf(name)}`)
  return named.join(', ') || 'defaults'
}

const labels: Readonly<Partial<Record<SettingName, string>>> = {
  mode: 'ranking',
  minScore: 'minimum score',
  minFit: 'fit threshold',
}

const defaultOf = (name: SettingName): string => (name === 'mode' ? 'hybrid' : 'default')

/** The first setting that is not valid, in words. */
export function findSettingProblem({ minScore, minFit, limit }: Settings): string | undefined {
  for (const [name, text] of [
    ['Minimum score', minScore],
    ['Fit threshold', minFit],
  ] as const)
    if (text !== undefined && !(Number(text) >= 0 && Number(text) <= 1)) return `${name} must be a number from 0 to 1.`
  if (limit !== undefined && !(Number.isInteger(Number(limit)) && Number(limit) >= 1 && Number(limit) <= 100))
    return 'Limit must be a whole number from 1 to 100.'
  return undefined
}

/** The settings as the server reads them; the toolset is a header. */
export function toEvalInput(settings: Settings) {
  const { mode, minScore, minFit, limit, namespace, category, tag, executor } = settings
  return {
    ...(isOne(modes, mode) ? { mode } : {}),
    ...(minScore === undefined ? {} : { minScore: Number(minScore) }),
    ...(minFit === undefined ? {} : { minFit: Number(minFit) }),
    ...(limit === undefined ? {} : { limit: Number(limit) }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(category === undefined ? {} : { category }),
    ...(tag === undefined ? {} : { tags: [tag] }),
    ...(isOne(executors, executor) ? { executor: [executor] } : {}),
  } satisfies Partial<Input>
}

function isOne<const Value extends string>(values: readonly Value[], text: string | undefined): text is Value {
  return (values as readonly (string | undefined)[]).includes(text)
}
