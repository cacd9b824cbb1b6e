import { TooldexError } from '../../../base/errors.ts'
import type { Collected, CollectRequest } from './collect-tools.ts'
import { isUsable, parseHelp } from './parse-help.ts'
import { warnLeftOut } from './remark-left-out.ts'
import { toBareSource, toSource } from './tool-source.ts'

/** The tools of a help text alone: the described one, or one for each listed command, without options. */
export function collectFromText(text: string, request: Omit<CollectRequest, 'runHelp'>): Collected {
  const { program, name, max } = request
  const command = request.subcommands.flat()
  const help = parseHelp(text, [...program, ...command])
  if (!isUsable(help)) {
    throw new TooldexError('HELP_UNREADABLE', `The text given for ${name} has neither a usage line nor options in it.`)
  }
  if (!help.isGroup) return { summary: help.summary, sources: [toSource(request, command, help)], notes: [] }
  const rows = help.subcommands.slice(0, max)
  const sources = rows.map((row) => toBareSource(request, [...command, row.name], row))
  return { summary: help.summary, sources, notes: warnLeftOut(help.subcommands.slice(max), max) }
}
