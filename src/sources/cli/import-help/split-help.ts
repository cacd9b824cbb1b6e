import { indentOf } from './clean-help-text.ts'

/** The subject of a section. */
type SectionKind = 'preamble' | 'usage' | 'options' | 'shared' | 'commands' | 'arguments' | 'examples' | 'other'

/** A heading and the lines under it; the preamble has none. */
export interface Section {
  readonly kind: SectionKind
  readonly heading: string
  readonly lines: readonly string[]
}

const maxHeadingIndent = 3
const maxHeadingChars = 120

/** Cuts a help text at its headings. */
export function splitHelp(lines: readonly string[]): readonly Section[] {
  const sections: { kind: SectionKind; heading: string; lines: string[] }[] = []
  let current = { kind: 'preamble' as SectionKind, heading: '', lines: [] as string[] }
  sections.push(current)
  for (const [index, line] of lines.entries()) {
    const usage = /^\s{0,3}usage(?:\s*:|$)(.*)$/i.exec(line)
    if (usage !== null) {
      current = { kind: 'usage', heading: 'usage', lines: usage[1]?.trim() ? [usage[1].trim()] : [] }
      sections.push(current)
    } else if (isHeading(lines, index)) {
      current = { kind: kindOf(line), heading: line.trim().replace(/:$/, ''), lines: [] }
      sections.push(current)
    } else current.lines.push(line)
  }
  return sections
}

function isHeading(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? ''
  const text = line.trim()
  const indent = indentOf(line)
  if (!/^[A-Za-z*]/.test(text) || indent > maxHeadingIndent || text.length > maxHeadingChars || / {2}/.test(text))
    return false
  if (indent === 0 && /^[A-Z][A-Z -]+$/.test(text) && !text.includes(' - ')) return true
  if (text.endsWith(':')) return opensList(lines, index, indent)
  // git sets its headings without a colon, right above what they head and below an empty line.
  const next = lines[index + 1] ?? ''
  const above = lines[index - 1] ?? ''
  return indent === 0 && above === '' && /^\s+(?:-\S|[a-z][\w-]* {2,}\S)/.test(next)
}

/** A colon heads a list where what follows is set in, or is a synopsis in brackets. */
function opensList(lines: readonly string[], index: number, indent: number): boolean {
  const next = lines.slice(index + 1, index + 4).find((line) => line !== '')
  return next !== undefined && (indentOf(next) > indent || /^\s*[[-]/.test(next) || isNamedList(lines[index] ?? ''))
}

const isNamedList = (line: string) => /^(?:options|flags|usage|commands|arguments):$/i.test(line.trim())

const kinds: readonly (readonly [SectionKind, RegExp])[] = [
  ['usage', /^(?:usage|synopsis)\b/i],
  ['examples', /\bexamples?\b/i],
  ['examples', /^(?:environment|exit|see also|notes?|files|bugs|authors?|aliases|alias)\b/i],
  ['shared', /^(?:global|general|common|inherited|parent|universal)\b.*\b(?:options|flags)\b/i],
  ['options', /\b(?:options|flags|switches)\b/i],
  ['arguments', /^(?:positional |required |optional )?(?:arguments|positionals|args|parameters|operands)\b/i],
  ['commands', /\b(?:sub-?)?commands\b(?!.*\bline\b)/i],
]

const kindOf = (heading: string): SectionKind =>
  kinds.find(([, pattern]) => pattern.test(heading.trim()))?.[0] ?? 'other'
