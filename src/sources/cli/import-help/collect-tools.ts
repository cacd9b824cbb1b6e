import { basename } from 'node:path'
import { TooldexError } from '../../../base/errors.ts'
import { Semaphore } from '../../../base/semaphore.ts'
import type { HelpOutput, RunHelp } from './create-help-runner.ts'
import type { Note } from './draft.ts'
import { isUsableHelp, parseHelp } from './parse-help.ts'
import type { HelpSubcommand, ParsedHelp } from './parsed-help.ts'
import {
  type HelpSource,
  type NamedProgram,
  toBareHelpSource,
  toHelpSource,
  warnGroup,
  warnLeftOut,
  warnOwnOptions,
} from './tool-source.ts'

/** Progress of reading help texts. */
export interface ImportProgress {
  readonly command: string
  readonly done: number
  readonly total: number
}

/** Which program to read, and how. */
export interface CollectRequest extends NamedProgram {
  /** Only these; without any, those the program lists. */
  readonly subcommands: readonly (readonly string[])[]
  /** The most commands to look into that were not named. */
  readonly max: number
  readonly runHelp: RunHelp
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined
}

/** Commands whose help was read, and notes about the others. */
export interface Collected {
  readonly summary: string
  readonly sources: readonly HelpSource[]
  readonly notes: readonly Note[]
}

const atOnce = 4
const maxDepth = 3

/** Reads the help of a program and of its commands. */
export async function collectTools(request: CollectRequest): Promise<Collected> {
  const { program, runHelp, signal, subcommands } = request
  const { fetched: root, tried } = await fetchHelp({ program, command: [], runHelp, signal })
  if (subcommands.length > 0) return collectNamed(request, root, tried)
  if (root === undefined) throw unreadable(request, tried)
  const { help, text } = root
  const { summary } = help
  if (help.subcommands.length === 0) return { summary, sources: [toHelpSource(request, [], help)], notes: [] }
  const { sources, notes } = await collectBelow(request, { path: [], rows: help.subcommands, text })
  return { summary, sources, notes: [...notes, ...warnOwnOptions(help)] }
}

async function collectNamed(
  request: CollectRequest,
  root: FetchedHelp | undefined,
  tried: readonly string[],
): Promise<Collected> {
  const looked = [...tried]
  const parts: Collected[] = []
  for (const command of request.subcommands) {
    const row = root?.help.subcommands.find((known) => known.name === command.join(' '))
    const result = await fetchHelp({ ...request, command, rootText: root?.text })
    looked.push(...result.tried)
    parts.push(await collectOne(request, command, row, result.fetched))
  }
  const sources = parts.flatMap((part) => part.sources)
  if (sources.length === 0) throw unreadable(request, looked)
  return { summary: root?.help.summary ?? '', sources, notes: parts.flatMap((part) => part.notes) }
}

/** A command requested by name, with its own subcommands if it has any. */
async function collectOne(
  request: CollectRequest,
  path: readonly string[],
  row: HelpSubcommand | undefined,
  found: FetchedHelp | undefined,
): Promise<Collected> {
  if (found === undefined) return { summary: '', sources: row ? [toBareHelpSource(request, path, row)] : [], notes: [] }
  const { help, text } = found
  const own = help.isGroup ? [] : [toHelpSource(request, path, help, row?.description)]
  if (help.subcommands.length === 0) return { summary: '', sources: own, notes: [] }
  const below = await collectBelow(request, { path, rows: help.subcommands, text })
  return { ...below, sources: [...own, ...below.sources] }
}

/** A command with commands of its own: its words, their list, and the text that has it. */
interface Level {
  readonly path: readonly string[]
  readonly rows: readonly HelpSubcommand[]
  readonly text: string
}

async function collectBelow(request: CollectRequest, level: Level): Promise<Collected> {
  const found = await readLevel(request, level)
  const sources: HelpSource[] = []
  const groups: Level[] = []
  const notes: Note[] = []
  for (const { row, path, fetched } of found) {
    if (fetched === undefined) sources.push(toBareHelpSource(request, path, row))
    else if (!fetched.help.isGroup) sources.push(toHelpSource(request, path, fetched.help, row.description))
    else {
      groups.push({ path, rows: fetched.help.subcommands, text: fetched.text })
      notes.push(warnGroup(request.program, path, fetched.help))
    }
  }
  notes.push(...warnLeftOut(level.rows.slice(request.max), request.max))
  const [group] = groups
  if (sources.length > 0 || group === undefined || group.path.length >= maxDepth) return { summary: '', sources, notes }
  // Nothing but groups: a draft without a tool is of no use, so the first of them is opened.
  const below = await collectBelow(request, group)
  return { ...below, notes: [...notes, ...below.notes] }
}

/** Fetches the help of each command of a list, a few at a time. */
function readLevel({ program, runHelp, signal, max, onProgress }: CollectRequest, { path, rows, text }: Level) {
  const chosen = rows.slice(0, max)
  const turns = new Semaphore({ slots: atOnce, waiting: Number.POSITIVE_INFINITY })
  let done = 0
  const read = async (row: HelpSubcommand) => {
    const command = [...path, row.name]
    const { fetched } = await fetchHelp({ program, command, runHelp, signal, rootText: text })
    onProgress?.({ command: command.join(' '), done: ++done, total: chosen.length })
    return { row, path: command, fetched }
  }
  return Promise.all(chosen.map((row) => turns.run(() => read(row), { signal })))
}

function unreadable({ program }: CollectRequest, tried: readonly string[]): TooldexError {
  const message = `No help could be read from ${program.join(' ')}. Tried: ${tried.join('; ')}.`
  return new TooldexError('HELP_UNREADABLE', message)
}

/** The tools of a help text alone: the described one, or one for each listed command, without options. */
export function collectFromText(text: string, request: Omit<CollectRequest, 'runHelp'>): Collected {
  const { program, name, max } = request
  const command = request.subcommands.flat()
  const help = parseHelp(text, [...program, ...command])
  if (!isUsableHelp(help)) {
    throw new TooldexError('HELP_UNREADABLE', `The text given for ${name} has neither a usage line nor options in it.`)
  }
  if (!help.isGroup) return { summary: help.summary, sources: [toHelpSource(request, command, help)], notes: [] }
  const rows = help.subcommands.slice(0, max)
  const sources = rows.map((row) => toBareHelpSource(request, [...command, row.name], row))
  return { summary: help.summary, sources, notes: warnLeftOut(help.subcommands.slice(max), max) }
}

/** A readable help text with its parsed content. */
interface FetchedHelp {
  readonly text: string
  readonly help: ParsedHelp
}

/** The command whose help is fetched. */
interface FetchRequest {
  readonly program: readonly string[]
  readonly command: readonly string[]
  readonly runHelp: RunHelp
  readonly signal?: AbortSignal | undefined
  /** The program's own help: a command that prints it has none of its own. */
  readonly rootText?: string | undefined
}

/** The help that was read, if any, and the command lines that were tried. */
interface FetchResult {
  readonly fetched?: FetchedHelp | undefined
  readonly tried: readonly string[]
}

/** Runs a program with the usual help flags until the output can be parsed. */
async function fetchHelp(request: FetchRequest): Promise<FetchResult> {
  const tried: string[] = []
  let best: FetchedHelp | undefined
  for (const argv of listAttempts(request)) {
    if (best !== undefined && !mayImprove(best, argv)) continue
    tried.push(argv.join(' '))
    const found = await attempt(argv, request)
    if (found === 'root') break
    if (found !== undefined && (best === undefined || found.help.options.length > best.help.options.length))
      best = found
  }
  return { fetched: best === undefined ? undefined : await widen(best, request), tried }
}

function listAttempts({ program, command }: FetchRequest): readonly (readonly string[])[] {
  const long = [...program, ...command, '--help']
  const short = [...program, ...command, '-h']
  if (command.length === 0) return [long, short]
  // With --help git opens the manual of a command; its -h is the list of options.
  const first = basename(program[0] ?? '') === 'git' ? [short, long] : [long, short]
  return [...first, [...program, 'help', ...command]]
}

/** A manual, or a complaint that mentions -h, is worth another try; anything else is not, as -h may mean something. */
function mayImprove({ text, help }: FetchedHelp, argv: readonly string[]): boolean {
  if (argv.at(-1) !== '-h') return false
  return isManual(text) || (help.options.length === 0 && /(?:^|[\s[|,'"`])-h\b/.test(text))
}

const isManual = (text: string) => /^\s*\S+\(\d\w*\)\s/.test(text) || (/^NAME$/m.test(text) && /^SYNOPSIS$/m.test(text))

async function attempt(argv: readonly string[], request: FetchRequest): Promise<FetchedHelp | 'root' | undefined> {
  const output = await runQuietly(argv, request)
  if (output === undefined) return undefined
  const { stdout, stderr } = output
  for (const text of [stdout, stderr, `${stdout}\n${stderr}`]) {
    if (text.trim() === '') continue
    if (request.rootText !== undefined && text.trim() === request.rootText.trim()) return 'root'
    const help = parseHelp(text, [...request.program, ...request.command])
    if (isUsableHelp(help)) return { text, help }
  }
  return undefined
}

// `--help all` (curl), or `--help <simple|list|all>` (ps).
const namesAll = /--help (?:all\b|<(?:[\w-]+\|)*all(?:\|[\w-]+)*>)/

/** Some programs keep most of their options behind `--help all`, and print so. */
async function widen(found: FetchedHelp, request: FetchRequest): Promise<FetchedHelp> {
  if (!namesAll.test(found.text)) return found
  const all = await attempt([...request.program, ...request.command, '--help', 'all'], {
    ...request,
    rootText: undefined,
  })
  return all !== undefined && all !== 'root' && all.help.options.length > found.help.options.length ? all : found
}

/** A program that cannot be started prints nothing; a cancelled import ends here. */
async function runQuietly(argv: readonly string[], { runHelp, signal }: FetchRequest): Promise<HelpOutput | undefined> {
  if (signal?.aborted) throw new TooldexError('EXECUTION_CANCELLED', 'The import was cancelled before it ended.')
  try {
    return await runHelp(argv, signal)
  } catch (error) {
    if (error instanceof TooldexError) throw error
    return undefined
  }
}
