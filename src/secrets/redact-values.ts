import { type Environment, expandVariables } from '../base/expand-variables.ts'
import type { RunnableTool } from '../contract/executor.ts'
import type { Redactor, Replacement } from '../contract/secret.ts'
import { replaceAll } from '../rules/redact-json.ts'
import { isSecretName } from '../rules/secret-names.ts'
import { secretSettings } from '../rules/settings.ts'

/** Replaces named values in texts; values can be added at any time. */
interface ValueRedactor {
  readonly redact: Redactor
  add(name: string, value: string): void
}

/** A redactor for named values of at least `minLength` characters; shorter ones occur in ordinary text. */
export function redactValues(minLength: number): ValueRedactor {
  const values = new Map<string, string>()
  let forms: readonly Replacement[] = []
  const redact = (text: string) => replaceAll(text, forms)
  const unfinished = (text: string, atLeast = 0) => {
    const open = Math.max(atLeast, ...forms.map(([form]) => overlap(text, form)))
    return text.length - beforeMatches(text, forms, text.length - open)
  }
  return {
    redact: Object.assign(redact, { unfinished, replacements: () => forms }),
    add(name, value) {
      if (value.length < minLength || values.get(name) === value) return
      values.set(name, value)
      forms = longestFirst(values, minLength)
    },
  }
}

/** Sorted by length: of a secret that begins with another one, the rest would stay visible otherwise. */
const longestFirst = (values: ReadonlyMap<string, string>, minLength: number) =>
  [...values]
    .flatMap(([name, value]) => secretForms(value, minLength).map((form) => [form, `[redacted ${name}]`] as const))
    .sort(([a], [b]) => b.length - a.length)

/** The number of characters at the end of a text that are the beginning of a secret. */
function overlap(text: string, secret: string): number {
  let length = Math.min(text.length, secret.length - 1)
  while (length > 0 && !text.endsWith(secret.slice(0, length))) length--
  return length
}

/** The cut itself, or the start of the secret that it would divide. */
function beforeMatches(text: string, forms: readonly Replacement[], cut: number): number {
  for (const [form] of forms) {
    const start = text.indexOf(form, Math.max(0, cut - form.length + 1))
    if (start !== -1 && start < cut) return beforeMatches(text, forms, start)
  }
  return cut
}

// Shorter encodings occur in ordinary text.
const minEncoded = 8
const base64Line = 76

/**
 * The forms in which a value may appear in a text: literal, line by line, escaped as in JSON or HTML, as a number, and encoded as
 * base64, base32, hex or part of a URL.
 */
function secretForms(value: string, minLength: number): readonly string[] {
  const encoded = [...urlForms(value), ...hexForms(value), ...base64Forms(value), ...base32Forms(value)]
  const forms = [
    value,
    ...jsonForms(value),
    ...htmlForms(value),
    ...lineForms(value),
    ...numberForms(value).filter(({ length }) => length >= minLength),
    ...encoded.filter(({ length }) => length >= minEncoded),
  ]
  return [...new Set(forms)]
}

/** Escaped as in JSON, with and without escapes for characters outside ASCII, and as JSON in a string of JSON. */
function jsonForms(value: string): readonly string[] {
  const toJson = (text: string) => JSON.stringify(text).slice(1, -1)
  const toEscape = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  const escaped = toJson(value)
  const once = [escaped, escaped.replace(/[\u0080-\uffff]/g, toEscape)]
  return [...once, ...once.map(toJson)]
}

/** Escaped as in HTML or XML; quotes are escaped in several ways, or not at all. */
function htmlForms(value: string): readonly string[] {
  const escaped = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const quotes = [
    ['"', "'"],
    ['&quot;', "'"],
    ['&quot;', '&#39;'],
    ['&quot;', '&#x27;'],
    ['&quot;', '&apos;'],
    ['&#34;', '&#39;'],
  ] as const
  return quotes.map(([double, single]) => escaped.replaceAll('"', double).replaceAll("'", single))
}

/** The lines of a key or certificate, which programs indent or print one by one. */
function lineForms(value: string): readonly string[] {
  const lines = value.split('\n').map((line) => line.trim())
  return lines.length === 1
    ? []
    : lines.filter((line) => line.length >= minEncoded && !/^-----(?:BEGIN|END) /.test(line))
}

/** The value after a program parsed it as a number: without leading zeros, and rounded if it is long. */
function numberForms(value: string): readonly string[] {
  return /^[-+]?\d+(?:\.\d+)?$/.test(value) ? [String(Number(value))] : []
}

function urlForms(value: string): readonly string[] {
  const percent = encodeURIComponent(Buffer.from(value).toString())
  const form = new URLSearchParams({ '': value }).toString().slice(1)
  const all = Buffer.from(value).toString('hex').replace(/../g, '%$&')
  return [percent, form, all].flatMap((text) => [
    text,
    text.replace(/%[0-9A-Fa-f]{2}/g, (code) => code.toLowerCase()),
    upper(text),
  ])
}

const upper = (text: string): string => text.replace(/%[0-9a-f]{2}/g, (code) => code.toUpperCase())

function hexForms(value: string): readonly string[] {
  const hex = Buffer.from(value).toString('hex')
  const separated = [' ', ':'].map((separator) => hex.replace(/..(?=.)/g, `$&${separator}`))
  return [hex, ...separated].flatMap((text) => [text, text.toUpperCase()])
}

/** The value alone, without padding, and inside a longer text that begins up to four bytes before it. */
function base32Forms(value: string): readonly string[] {
  const whole = toBase32(Buffer.from(value))
  const inner = [1, 2, 3, 4].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)])
    return toBase32(bytes).slice(Math.ceil((before * 8) / 5), Math.floor((bytes.length * 8) / 5))
  })
  return [whole, whole.toLowerCase(), ...inner]
}

/** RFC 4648, without padding. */
function toBase32(bytes: Buffer): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  let [text, bits, buffer] = ['', 0, 0]
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xfff
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(buffer >> (bits - 5)) & 31]
  }
  return bits === 0 ? text : text + alphabet[(buffer << (5 - bits)) & 31]
}

/** The value alone, and inside a longer text that begins up to two bytes before it: the characters that depend on the value only. */
function base64Forms(value: string): readonly string[] {
  const whole = Buffer.from(value).toString('base64')
  const inner = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)])
    return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6))
  })
  const wrapped = [whole, ...inner.slice(0, 1)].map((text) => text.replace(lineEnds, '$&\n'))
  return [whole, ...inner, ...wrapped].flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')])
}

// Programs that encode a file break lines, except at the very end.
const lineEnds = new RegExp(`.{${base64Line}}(?=.)`, 'g')

// Shorter values occur in ordinary text, which redaction would garble.
const minLength = 8

/** A redactor for the secrets of Tooldex itself, and for the values that a config declares or uses under the name of a secret. */
export function createRedactor(declared: Readonly<Record<string, string>>, env: Environment): Redactor {
  const used = Object.values(declared).flatMap((value) => Array.from(value.matchAll(variable), ([, name = '']) => name))
  const { redact, add } = redactValues(minLength)
  for (const name of [...secretSettings, ...used.filter(isSecretName)]) add(name, env[name] ?? '')
  for (const [name, value] of Object.entries(declared)) {
    if (isSecretName(name)) add(name, expandVariables(value, env, 'braced').text)
  }
  return redact
}

const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)/g

const nothing = {}

/** The variables that a tool sets; some contain secrets, recognized by their names. */
const declaredBy = ({ resolved, executorConfig }: RunnableTool): Readonly<Record<string, string>> =>
  resolved?.env ?? (executorConfig.env as Record<string, string> | undefined) ?? nothing

/** Creates one redactor for each tool and caches it. */
export function cacheRedactors(env: Environment): (tool: RunnableTool) => Redactor {
  const cache = new WeakMap<object, Redactor>()
  return (tool) => {
    const declared = declaredBy(tool)
    const redact = cache.get(declared) ?? createRedactor(declared, env)
    cache.set(declared, redact)
    return redact
  }
}
