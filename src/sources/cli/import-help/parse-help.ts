import { cleanHelpText } from './clean-help-text.ts'
import { findSummary } from './find-summary.ts'
import { mergeOptions } from './merge-options.ts'
import type { HelpOption, ParsedHelp } from './parsed-help.ts'
import { readArgumentRows } from './read-argument-rows.ts'
import { readOptionRows } from './read-option-rows.ts'
import { chooseReading, readPositionals } from './read-positionals.ts'
import { readSubcommands } from './read-subcommands.ts'
import { readUsage, type UsageContext } from './read-usage.ts'
import { findBareUsage, readUsageForms } from './read-usage-forms.ts'
import { type Section, splitHelp } from './split-help.ts'

/** Reads a help text of any of the common styles; unknown parts are omitted, never guessed. */
export function parseHelp(raw: string, words: readonly string[] = []): ParsedHelp {
  const lines = cleanHelpText(raw)
  const { sections, forms } = readSections(lines, words)
  const rows = readOptionRows(sections)
  const anywhere = forms.some((form) => /[<[]?\b(?:sub-?)?command\b/i.test(form))
  const subcommands = readSubcommands(sections, anywhere)
  const argumentRows = readArgumentRows(sections)
  const context: UsageContext = {
    words,
    subcommands: subcommands.map((command) => command.name),
    // Only names outside the brackets of options tell how positionals are written.
    marked: forms.some((form) => /<|\b[A-Z]{3,}\b/.test(form.replace(/\[-[^\]]*\]/g, ''))),
    listed: argumentRows.map((row) => row.item),
    takesValue: (flag) => takesValue(rows, flag),
  }
  const readings = forms.map((form) => readUsage(form, context))
  const own = readings.filter((reading) => reading.literals.length === 0)
  const synopses = readSynopses(sections).map((text) => readUsage(text, { ...context, marked: true }))
  const chosen = chooseReading(readings)
  return {
    summary: findSummary(sections, forms),
    forms,
    positionals: readPositionals(readings, argumentRows, context.subcommands),
    options: mergeOptions(
      rows,
      [...own, ...synopses].flatMap((reading) => reading.options),
    ),
    subcommands,
    isGroup: subcommands.length > 0 && own.every((reading) => reading.hasCommand),
    dashes: chosen?.dashes,
  }
}

function takesValue(rows: readonly HelpOption[], flag: string): boolean | undefined {
  const known = rows.find((row) => row.flags.includes(flag))
  return known === undefined ? undefined : known.value !== undefined
}

/** Whether a help text contains enough for a tool. */
export function isUsable(help: ParsedHelp): boolean {
  return help.options.length > 0 || help.subcommands.length > 0 || help.positionals.length > 0 || help.forms.length > 0
}

interface SectionsAndForms {
  readonly sections: readonly Section[]
  readonly forms: readonly string[]
}

/** Cuts the text at its headings; what follows the usage lines becomes a section of its own. */
function readSections(lines: readonly string[], words: readonly string[]): SectionsAndForms {
  const forms: string[] = []
  const sections = splitHelp(lines).flatMap((section): readonly Section[] => {
    if (section.kind !== 'usage' || forms.length > 0) return [section]
    const usage = readUsageForms(section.lines)
    forms.push(...usage.forms)
    return [
      { ...section, lines: [] },
      { kind: 'preamble', heading: '', lines: usage.rest },
    ]
  })
  const program = words[0]?.split('/').at(-1) ?? ''
  return { sections, forms: forms.length > 0 ? forms : findBareUsage(sections, program) }
}

/** npm writes its options as a synopsis, `[-S|--save] [--omit <dev>]`, under the heading of the options. */
function readSynopses(sections: readonly Section[]): readonly string[] {
  return sections.flatMap((section) => {
    if (section.kind !== 'options' || !/^\s*\[-/.test(section.lines.find((line) => line !== '') ?? '')) return []
    const lines = section.lines.slice(section.lines.findIndex((line) => line !== ''))
    const end = lines.indexOf('')
    return [
      lines
        .slice(0, end < 0 ? undefined : end)
        .join(' ')
        .slice(0, 8000),
    ]
  })
}
