import { TooldexError } from '../../../base/errors.ts'
import { type Environment, expandHome, expandVariables } from '../../../base/expand-variables.ts'
import { findOpenQuote, splitWords } from '../../../base/split-words.ts'
import { processEnv } from '../../../rules/settings.ts'
import { parseConfig } from '../parse-config.ts'
import {
  type Collected,
  type CollectRequest,
  collectFromText,
  collectTools,
  type ImportProgress,
} from './collect-tools.ts'
import type { RunHelp } from './create-help-runner.ts'
import { nameProgram, takeName, toDraftText, unsure } from './draft.ts'
import { draftTool } from './draft-tool.ts'
import { writeDraft } from './write-draft.ts'

/** A program whose help is to become a config. */
export interface DraftRequest {
  /** As the config will have it: `git`, `./tool.py`, `python3 -m json.tool`. */
  readonly command: string
  /** Only these commands of the program; each may have several words, as in `remote add`. */
  readonly subcommands: readonly string[]
  /** How many commands to look into where none are named. Each costs a run of the program or two. */
  readonly max: number
  /** A text to read instead of running the program. */
  readonly helpText?: string | null | undefined
  readonly runHelp: RunHelp
  readonly env?: Environment | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined
}

/** A draft of a config: its text, and the notes to review. */
export interface ConfigDraft {
  readonly yaml: string
  readonly name: string
  readonly tools: number
  readonly unsure: readonly string[]
}

/** Drafts a config from the help of a program; the text always passes `validate --strict`. */
export async function draftConfig(request: DraftRequest): Promise<ConfigDraft> {
  const { command, helpText, max, runHelp, signal, onProgress, env = processEnv } = request
  const program = splitCommand(expandVariables(expandHome(command, env), env).text)
  const name = nameProgram(program)
  const subcommands = request.subcommands.map(splitCommand)
  const wanted: CollectRequest = { program, name, subcommands, max, runHelp, signal, onProgress }
  const collected = helpText == null ? await collectTools(wanted) : collectFromText(helpText, wanted)
  const written = writeCollected(collected, command, name)
  if (written.tools === 0 || !isValid(written.yaml)) throw unreadable(command)
  return { ...written, name }
}

function writeCollected({ summary, sources, notes }: Collected, command: string, name: string) {
  const taken = new Set<string>()
  const tools = sources.map(draftTool).map((tool) => ({ ...tool, name: takeName(tool.name, taken) }))
  const description = toDraftText(summary) || toDraftText(`Tools of ${name}.`)
  const warnings = summary === '' ? [unsure('no description of the program found')] : []
  return writeDraft({ name, description, command, tools, notes: [...warnings, ...notes] })
}

function splitCommand(text: string): readonly string[] {
  if (findOpenQuote(text) !== undefined)
    throw new TooldexError('USAGE', `The quotes in ${JSON.stringify(toDraftText(text, 100))} are never closed.`)
  const words = splitWords(text)
  if (words.length > 0 && words[0] !== '') return words
  throw new TooldexError('USAGE', 'The command is empty.')
}

function isValid(yaml: string): boolean {
  try {
    return parseConfig(yaml, 'draft', { strict: true }).config.tools.length > 0
  } catch {
    return false
  }
}

const unreadable = (command: string) =>
  new TooldexError('HELP_UNREADABLE', `Nothing in the help of ${toDraftText(command, 100)} can be made into a tool.`)
