import type { Section } from './split-help.ts'

const noise =
  /^(?:error\b|warning\b|\w+ (?:warn|err)\b|unknown\b|unrecognized\b|invalid\b|try\b|see\b|the (?:available )?commands\b|these are\b|run\b|use\b|mandatory (?:and optional )?arguments\b|\S+ v?\d+\.\d+|where\s+[A-Z]+ :=|[^\w\s])|unknown option|command not found|options? (?:needs|requires)|there are some problems/i

/** The summary of a program: the first sentence or two of prose, after the usage or before it. */
export function findSummary(sections: readonly Section[], forms: readonly string[]): string {
  const usage = sections.findIndex((section) => section.kind === 'usage')
  const after = usage < 0 ? undefined : sections[usage + 1]
  const name = sections.find((section) => section.heading === 'NAME')
  const described = sections.find((section) => /^description$/i.test(section.heading))
  const manual = name?.lines.map((line) => / - (.+)$/.exec(line)?.[1] ?? '').find((line) => line !== '')
  const texts = [manual, ...[after, sections[0], described].map((section) => firstProse(section?.lines ?? [], forms))]
  return texts.find((text) => text !== undefined && text !== '') ?? ''
}

function firstProse(lines: readonly string[], forms: readonly string[]): string {
  const options = lines.findIndex((line) => line.trim().startsWith('-'))
  const texts = lines.slice(0, options < 0 ? undefined : options).map((line) => line.trim())
  const paragraphs: string[][] = [[]]
  for (const text of texts) {
    if (text === '' || forms.includes(text)) paragraphs.push([])
    else paragraphs.at(-1)?.push(text)
  }
  return paragraphs.find(isProse)?.join(' ') ?? ''
}

/** Words about the program: no complaint, no table, and not the introduction of a list, which ends in a colon. */
function isProse(lines: readonly string[]): boolean {
  const [first = ''] = lines
  const isTable = lines.some((line) => /\S {3,}\S/.test(line) || line.startsWith('['))
  return /[a-z]{2}/i.test(first) && !noise.test(first) && !isTable && !lines.at(-1)?.endsWith(':')
}
