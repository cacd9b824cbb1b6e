import { isObject } from '../../base/json-values.ts'
import type { Finding } from '../../diagnostics/finding.ts'
import type { RelaxedValue } from '../../documents/typed-yaml.ts'

/** The source text of a plain scalar. */
type SourceAt = (path: readonly PropertyKey[]) => string | undefined

type Mapping = Record<string, unknown>
type Path = readonly PropertyKey[]

const truths = new Map<string, boolean>([
  ...['yes', 'on', 'true', 'y', 't', '1'].map((word) => [word, true] as const),
  ...['no', 'off', 'false', 'n', 'f', '0'].map((word) => [word, false] as const),
])
// Strings in YAML 1.1, numbers in YAML 1.2.
const olderText = /^(?:[-+]?\d[\d_]*(?:\.\d*)?e\d+|0o[0-7]+)$/i
const switches = ['required', 'positional', 'cwd', 'stdin']
const texts = {
  config: ['name', 'description', 'command', 'category', 'workingDir'],
  tool: ['name', 'description', 'command'],
}

/**
 * Converts values as CLImax does, which parses YAML 1.1 and coerces: `yes` to true, "30" to 30. Each conversion is
 * reported; unusable values are dropped.
 */
export function relaxConfig(config: unknown, sourceAt: SourceAt): RelaxedValue {
  if (!isObject(config)) return { value: config, findings: [] }
  const relaxer = new Relaxer(sourceAt)
  const relaxed = { ...config }
  for (const key of texts.config) relaxer.text(relaxed, key, [])
  if (isObject(relaxed.env)) relaxed.env = relaxer.each(relaxed.env, ['env'])
  relaxer.list(relaxed, 'tags', [])
  if (relaxed.name === '') relaxer.drop(relaxed, ['name'], "name is empty; 'climax' is used", 'name the config')
  if (Array.isArray(relaxed.globalArgs)) relaxed.globalArgs = relaxer.args(relaxed.globalArgs, ['globalArgs'])
  if (Array.isArray(relaxed.tools)) relaxed.tools = relaxer.tools(relaxed.tools, ['tools'])
  return { value: relaxed, findings: relaxer.findings }
}

class Relaxer {
  readonly findings: Finding[] = []
  readonly #sourceAt: SourceAt

  constructor(sourceAt: SourceAt) {
    this.#sourceAt = sourceAt
  }

  tools(tools: readonly unknown[], path: Path): unknown[] {
    return tools.map((tool, index) => {
      if (!isObject(tool)) return tool
      const at = [...path, index]
      const relaxed = { ...tool }
      for (const key of texts.tool) this.text(relaxed, key, at)
      this.list(relaxed, 'tags', at)
      this.#timeout(relaxed, at)
      if (Array.isArray(relaxed.args)) relaxed.args = this.args(relaxed.args, [...at, 'args'])
      return relaxed
    })
  }

  args(args: readonly unknown[], path: Path): unknown[] {
    return args.map((arg, index) => {
      if (!isObject(arg)) return arg
      const at = [...path, index]
      const relaxed = { ...arg }
      for (const key of ['name', 'description', 'flag']) this.text(relaxed, key, at)
      for (const key of switches) this.#switch(relaxed, key, at)
      if (relaxed.flag === '')
        this.drop(relaxed, [...at, 'flag'], 'flag is empty; one is made from the name', 'remove it')
      this.#default(relaxed, at)
      return relaxed
    })
  }

  text(holder: Mapping, key: string, path: Path): void {
    if (typeof holder[key] === 'number') holder[key] = this.#text(holder[key], [...path, key])
  }

  list(holder: Mapping, key: string, path: Path): void {
    const items = holder[key]
    if (Array.isArray(items)) holder[key] = items.map((item, index) => this.#text(item, [...path, key, index]))
  }

  each(holder: Mapping, path: Path): Mapping {
    return Object.fromEntries(Object.entries(holder).map(([key, value]) => [key, this.#text(value, [...path, key])]))
  }

  /** Drops a key and reports it. */
  drop(holder: Mapping, path: Path, message: string, hint: string): void {
    delete holder[String(path.at(-1))]
    this.#report(path, message, hint)
  }

  #text(value: unknown, path: Path): unknown {
    const source = typeof value === 'number' ? this.#sourceAt(path) : undefined
    if (source === undefined || !olderText.test(source)) return value
    this.#report(path, `${source} is a number to YAML 1.2; it is read as a string`, 'put it in quotes')
    return source
  }

  #switch(holder: Mapping, key: string, path: Path): void {
    const value = holder[key]
    const known = typeof value === 'string' ? truths.get(value.toLowerCase()) : undefined
    const asNumber = (value === 0 || value === 1) && key !== 'positional' ? value === 1 : undefined
    const read = known ?? asNumber
    if (read === undefined) return
    holder[key] = read
    this.#report([...path, key], `${key}: ${JSON.stringify(value)} is read as ${read}`, `write ${read}`)
  }

  #timeout(holder: Mapping, path: Path): void {
    const { timeout } = holder
    const at = [...path, 'timeout']
    const seconds = typeof timeout === 'string' || typeof timeout === 'boolean' ? toSeconds(timeout) : timeout
    if (typeof seconds !== 'number') return
    if (!Number.isFinite(seconds) || seconds < 0) {
      const shown = typeof timeout === 'number' ? String(timeout) : JSON.stringify(timeout)
      this.drop(holder, at, `timeout must be at least 0, not ${shown}; the default limit is used`, 'write seconds')
    } else if (seconds !== timeout) {
      holder.timeout = seconds
      this.#report(at, `timeout: ${JSON.stringify(timeout)} is read as ${seconds}`, `write ${seconds}`)
    }
  }

  #default(holder: Mapping, path: Path): void {
    const { default: value, type, repeat } = holder
    const at = [...path, 'default']
    if (type === 'boolean' && typeof value === 'string' && /^(?:yes|no|on|off)$/i.test(this.#sourceAt(at) ?? '')) {
      holder.default = truths.get(value.toLowerCase())
      this.#report(at, `default: ${value} is read as ${holder.default}`, `write ${holder.default}`)
      return
    }
    const infinite = typeof value === 'number' && !Number.isFinite(value)
    if ((typeof value !== 'object' || value === null) && !infinite) return
    const isList = Array.isArray(value) && value.every((item) => typeof item !== 'object')
    if (isList && (repeat === true || type === 'array')) return
    const what = isList
      ? 'a list, which only an argument with repeat: true takes'
      : 'neither a finite scalar nor a list of scalars'
    const hint = isList ? 'add repeat: true' : 'remove it'
    this.drop(holder, at, `argument '${String(holder.name)}': the default is ${what}; it is not used`, hint)
  }

  #report(path: Path, message: string, hint: string): void {
    this.findings.push({ path, message, hint, tolerated: true })
  }
}

/** Parses seconds, with optional minutes and hours before colons. */
function toSeconds(value: string | boolean): number | string {
  if (typeof value === 'boolean') return Number(value)
  const text = value.trim().replaceAll('_', '')
  if (/^(?:yes|no|on|off)$/i.test(text)) return Number(truths.get(text.toLowerCase()))
  if (/^\d+(?::[0-5]?\d)+(?:\.\d*)?$/.test(text))
    return text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
  if (/^[-+]?(?:inf|infinity|nan)$/i.test(text)) return Number.NaN
  return text === '' || Number.isNaN(Number(text)) ? value : Number(text)
}
