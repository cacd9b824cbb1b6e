import { type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import type { OperationInput, OperationOutput, Problem } from 'tooldex/client'

type Registered = OperationOutput<'registry.get'>
type ToolChange = Omit<OperationInput<'registry.change'>, 'idOrName' | 'expectedVersion' | 'changelog'>

/** The executors that a registered tool can have. */
export const executorTypes = ['python', 'shell', 'http', 'mcp', 'cli'] as const

/** A tool as the texts of its fields. */
export interface ToolForm {
  readonly name: string
  readonly displayName: string
  readonly description: string
  readonly categoryId: string
  /** Separated by commas. */
  readonly tags: string
  readonly executorType: string
  /** JSON. */
  readonly executorConfig: string
  readonly scriptContent: string
  /** JSON. */
  readonly inputSchema: string
}

/** The fields of a tool that a form has. */
type FormContent = Pick<ToolChange, keyof ToolForm>

/** The tool that a form describes, as far as its texts can be read. */
export interface ReadForm {
  readonly content: FormContent
  readonly problems: readonly Problem[]
}

/** The form of a new tool. */
export const newToolForm: ToolForm = {
  name: '',
  displayName: '',
  description: '',
  categoryId: '',
  tags: '',
  executorType: 'python',
  executorConfig: '{}',
  scriptContent: 'def main(arguments):\n    return {"greeting": "Hello " + arguments["name"]}\n',
  inputSchema: toText({
    type: 'object',
    properties: { name: { type: 'string', description: 'Name of the person' } },
    required: ['name'],
  }),
}

/** The form of a registered tool. */
export const toForm = (tool: Registered): ToolForm => ({
  name: tool.name,
  displayName: tool.displayName,
  description: tool.description,
  categoryId: tool.categoryId ?? '',
  tags: tool.tags.join(', '),
  executorType: tool.executorType,
  executorConfig: toText(tool.executorConfig),
  scriptContent: tool.scriptContent ?? '',
  inputSchema: toText(tool.inputSchema),
})

/** JSON as it is edited. */
export function toText(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

const fields = Object.keys(newToolForm) as (keyof ToolForm)[]

/** Whether two forms have the same texts. */
export const sameForm = (a: ToolForm, b: ToolForm): boolean => fields.every((field) => a[field] === b[field])

/** The edits between two forms, applied to a third one. */
export const rebaseForm = (edited: ToolForm, from: ToolForm, onto: ToolForm): ToolForm =>
  Object.fromEntries(
    fields.map((field) => [field, edited[field] === from[field] ? onto[field] : edited[field]]),
  ) as unknown as ToolForm

/** The content of a new tool; the server derives an empty display name from the name. */
export const readForm = (form: ToolForm): ReadForm =>
  readFields(
    form,
    fields.filter((field) => field !== 'displayName' || form.displayName !== ''),
  )

/** The content of the edited fields only, so that all others stay as they are. */
export const readEdits = (form: ToolForm, start: ToolForm): ReadForm =>
  readFields(
    form,
    fields.filter((field) => form[field] !== start[field]),
  )

function readFields(form: ToolForm, names: readonly (keyof ToolForm)[]): ReadForm {
  const problems: Problem[] = []
  const read = (name: keyof ToolForm): unknown => {
    const text = form[name]
    if (name === 'tags') return splitTags(text)
    if (name === 'categoryId') return text === '' ? null : text
    if (name === 'scriptContent') return text === '' ? null : text
    if (name !== 'executorConfig' && name !== 'inputSchema') return text
    const found = readObject(text)
    if ('value' in found) return found.value
    problems.push({ severity: 'error', pointer: `/${name}`, ...found })
    return undefined
  }
  const content = Object.fromEntries(names.map((name) => [name, read(name)])) as FormContent
  return { content, problems }
}

const splitTags = (text: string): readonly string[] =>
  text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')

type ObjectProblem = Pick<Problem, 'message' | 'line' | 'column' | 'hint'>

/** The object in a JSON text, or the first location that is not JSON. */
export function readObject(text: string): { readonly value: Readonly<Record<string, unknown>> } | ObjectProblem {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false })
  const [first] = errors
  if (first !== undefined) {
    const before = text.slice(0, first.offset).split('\n')
    const words = printParseErrorCode(first.error)
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
    const place = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
    return { message: `not valid JSON: ${words}`, hint: 'Names and texts are in double quotes.', ...place }
  }
  if (root?.type !== 'object') return { message: 'must be a JSON object', hint: 'Write it like {}.', line: 1 }
  return { value: JSON.parse(text) as Readonly<Record<string, unknown>> }
}
