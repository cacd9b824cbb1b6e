import { basename } from 'node:path'
import { TooldexError } from '../../../base/errors.ts'
import type { HelpOutput, RunHelp } from './create-help-runner.ts'
import { isUsable, parseHelp } from './parse-help.ts'
import type { ParsedHelp } from './parsed-help.ts'

/** A readable help text with its parsed content. */
export interface FetchedHelp {
  readonly text: string
  readonly help: ParsedHelp
}

/** The command whose help is fetched. */
export interface FetchRequest {
  readonly program: readonly string[]
  readonly command: readonly string[]
  readonly runHelp: RunHelp
  readonly signal?: AbortSignal | undefined
  /** The program's own help: a command that prints it has none of its own. */
  readonly rootText?: string | undefined
}

/** The help that was read, if any, and the command lines that were tried. */
export interface FetchResult {
  readonly fetched?: FetchedHelp | undefined
  readonly tried: readonly string[]
}

/** Runs a program with the usual help flags until the output can be parsed. */
export async function fetchHelp(request: FetchRequest): Promise<FetchResult> {
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
    if (isUsable(help)) return { text, help }
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
