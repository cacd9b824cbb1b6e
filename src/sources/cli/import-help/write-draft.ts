import { Document, type Node, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml'
import { parseConfig } from '../parse-config.ts'
import { type Draft, type DraftArg, type DraftTool, type Note, toDraftText, unsure } from './draft.ts'
import { guessAnnotations } from './guesses.ts'

/** A draft as YAML, with its warnings as a list. */
export interface WrittenDraft {
  readonly yaml: string
  readonly tools: number
  readonly unsure: readonly string[]
}

/** Writes a draft that `validate --strict` accepts; a tool that would be invalid is written without its arguments. */
export function writeDraft(draft: Draft): WrittenDraft {
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
