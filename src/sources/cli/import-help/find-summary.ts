import type { Section } from './split-help.ts'

const noise = /^(?:error\b|warning\b|\w+ (?:warn|err)\b|unknown\b|unrecognized\b|invalid\b|try\b|see\b|the (?:available )?commands\b|run\b|use\b|mandatory arguments\b|[^\w\s])|unknown option|command not found|options? (?:needs|requires)|there are some problems/i

/** What the help says the program does: the first sentence or two of prose, after the usage or before it. */
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
  const paragraph: string[] = []
  for (const line of lines) {
    const text = line.trim()
    const isProse = text !== '' && !forms.includes(text) && !/^-|^\[/.test(text) && !/\S {3,}\S/.test(text)
    if (text.startsWith('-')) break
    if (isProse && (paragraph.length > 0 || (!noise.test(text) && /[a-z]{2}/i.test(text)))) paragraph.push(text)
    else if (paragraph.length > 0) break
  }
  // A text that ends in a colon introduces what follows instead of saying what the program does.
  return paragraph.at(-1)?.endsWith(':') ? '' : paragraph.join(' ')
}
