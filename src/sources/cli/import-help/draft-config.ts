import { Document, type Node, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml'
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
import {
  type Draft,
  type DraftArg,
  type DraftTool,
  type Note,
  nameProgram,
  takeFreeName,
  toDraftText,
  unsure,
} from './draft.ts'
import { draftTool } from './draft-tool.ts'
import { guessAnnotations } from './guesses.ts'

/** A program whose help is to become a config. */
interface DraftRequest {
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
interface ConfigDraft {
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
  const tools = sources.map(draftTool).map((tool) => ({ ...tool, name: takeFreeName(tool.name, taken) }))
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

/** A draft as YAML, with its warnings as a list. */
interface WrittenDraft {
  readonly yaml: string
  readonly tools: number
  readonly unsure: readonly string[]
}

/** Writes a draft that `validate --strict` accepts; a tool that would be invalid is written without its arguments. */
function writeDraft(draft: Draft): WrittenDraft {
  const alone = draft.tools.map((tool) => (isAccepted(toYaml({ ...draft, tools: [tool] })) ? tool : bare(tool)))
  const checked = { ...draft, tools: alone }
  const yaml = toYaml(checked)
  if (isAccepted(yaml)) return { yaml, tools: alone.length, unsure: listDoubts(checked) }
  const reduced = { ...draft, tools: draft.tools.map(bare) }
  return { yaml: toYaml(reduced), tools: reduced.tools.length, unsure: listDoubts(reduced) }
}

function isAccepted(yaml: string): boolean {
  try {
    parseConfig(yaml, 'draft', { strict: true })
    return true
  } catch {
    return false
  }
}

const bare = (tool: DraftTool): DraftTool => ({
  ...tool,
  description: toDraftText(tool.description.replace(/[^\w .,-]/g, ' ')),
  args: [],
  notes: [unsure('its arguments could not be written; add them by hand')],
})

function toYaml(draft: Draft): string {
  const document = new Document({})
  const root = document.contents as unknown as YAMLMap
  const { name, description, command } = draft
  root.set('name', name)
  root.set('description', quoted(document, description))
  root.set('command', quoted(document, command))
  const tools = document.createNode(draft.tools.map(() => ({}))) as YAMLSeq<YAMLMap>
  for (const [index, tool] of draft.tools.entries()) {
    const map = tools.items[index] as YAMLMap
    map.spaceBefore = index > 0
    fillTool(document, map, tool)
  }
  root.set('tools', tools)
  document.commentBefore = headOf(draft)
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}

function headOf({ command, notes }: Draft): string {
  return [
    ` A draft, made from the help text of: ${toDraftText(command, 100)}`,
    ' Nobody has checked it. Look at each line marked "unsure", delete what an agent does not need, then run:',
    '   tooldex validate FILE --strict',
    " Defaults stand in the descriptions: they are the program's own, and a `default:` here would be passed on each call.",
    ...notes.map((note) => commentOf(note, 600)),
  ].join('\n')
}

function fillTool(document: Document, map: YAMLMap, tool: DraftTool): void {
  comment(map, tool.notes)
  map.set('name', tool.name)
  map.set('description', quoted(document, tool.description))
  if (tool.command !== '') map.set('command', quoted(document, tool.command))
  if (tool.endOfOptions) map.set('end_of_options', true)
  const annotations = guessAnnotations(tool)
  if (annotations !== undefined) {
    const node = document.createNode(annotations, { flow: true })
    map.set('annotations', beside(node, [unsure('read off the description')]))
  }
  if (tool.args.length === 0) return
  const args = document.createNode(tool.args.map(() => ({}))) as YAMLSeq<YAMLMap>
  for (const [index, arg] of tool.args.entries()) fillArg(document, args.items[index] as YAMLMap, arg)
  map.set('args', args)
}

function fillArg(document: Document, map: YAMLMap, arg: DraftArg): void {
  comment(
    map,
    arg.notes.filter((note) => note.at === undefined),
  )
  const set = (key: string, node: Node) =>
    map.set(
      key,
      beside(
        node,
        arg.notes.filter((note) => note.at === key),
      ),
    )
  map.set('name', arg.name)
  set('type', document.createNode(arg.type))
  if (arg.items !== undefined) map.set('items', arg.items)
  if (arg.description !== '') map.set('description', quoted(document, arg.description))
  if (arg.flag != null) map.set('flag', quoted(document, arg.flag))
  if (arg.positional) set('positional', document.createNode(true))
  if (arg.required) map.set('required', true)
  if (arg.repeat) map.set('repeat', true)
  if (arg.enum == null) return
  const values = document.createNode(
    arg.enum.map((value) => (typeof value === 'string' ? quoted(document, value) : value)),
  ) as YAMLSeq
  values.flow = true
  set('enum', values)
}

function quoted(document: Document, text: string): Scalar<string> {
  const node = document.createNode(text) as Scalar<string>
  node.type = 'QUOTE_DOUBLE'
  return node
}

const commentOf = ({ text, unsure: isGuess }: Note, most = 300) =>
  ` ${isGuess ? 'unsure: ' : ''}${toDraftText(text, most)}`

function comment(node: Node, notes: readonly Note[]): void {
  if (notes.length > 0) node.commentBefore = notes.map((note) => commentOf(note)).join('\n')
}

function beside<T extends Node>(node: T, notes: readonly Note[]): T {
  if (notes.length > 0) node.comment = notes.map((note) => commentOf(note)).join(';')
  return node
}

function listDoubts(draft: Draft): readonly string[] {
  const of = (name: string, notes: readonly Note[]) =>
    notes.filter((note) => note.unsure).map((note) => `${name}: ${toDraftText(note.text)}`)
  return [
    ...of(draft.name, draft.notes),
    ...draft.tools.flatMap((tool) => [
      ...of(tool.name, tool.notes),
      ...tool.args.flatMap((arg) => of(`${tool.name}.${arg.name}`, arg.notes)),
    ]),
  ]
}
