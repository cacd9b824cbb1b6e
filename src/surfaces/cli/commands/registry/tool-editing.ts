import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import { TooldexError, toTooldexError } from '../../../../base/errors.ts'
import { type RegisteredTool, registryLimits, ToolContent } from '../../../../contract/registry.ts'
import { parseJsonOrYaml } from '../../../../documents/json-document.ts'
import { readTextFile } from '../../../../documents/read-text-file.ts'
import { writeYaml } from '../../../../documents/write-yaml.ts'
import { getCategory } from '../../../../operations/registry/categories.ts'
import { changeTool, getTool } from '../../../../operations/registry/tools.ts'
import type { CliHost } from '../../host.ts'
import { readToolFile } from '../../read-tool-file.ts'
import { reportError } from '../../report-error.ts'
import { collect, parseCount, toJson } from '../command.ts'
import { definedOptions, printWarnings, toolStateText, withRegistry, withRegistryOptions } from './registry-command.ts'
import { type WriteFlags, withCategory, writeTool } from './tool-writing.ts'

interface Editing {
  readonly tool: RegisteredTool
  readonly edited: EditedTool
}

interface EditFlags extends WriteFlags {
  readonly set?: readonly string[]
}

/** `tooldex tools edit`: changes a tool by a file, by --set, or in an editor. */
export function addEditCommand(group: Command, host: CliHost): void {
  const edit = group
    .command('edit <tool> [file]')
    .description('change a tool by a YAML or JSON file (- for standard input), by --set, or in your editor')
    .option('--set <field=value>', 'set a field, or a part of it by a dotted path; may be repeated', collect)
    .option('--changelog <text>', 'description of the change')
    .option('--script <file>', 'file with the script of the tool')
    .option('--expected-version <n>', 'fail unless the tool still has this version', parseCount)
  withRegistryOptions(edit).action((idOrName: string, file: string | undefined, flags: EditFlags) => {
    const { set, script } = flags
    if (file !== undefined && set !== undefined)
      throw new TooldexError('USAGE', 'Use either a file or --set, not both.', { hint: 'Omit one of them.' })
    if (file !== undefined) return editByFile(host, flags, { idOrName, file })
    if (set !== undefined || script !== undefined) return editByFields(host, flags, idOrName)
    return editInEditor(host, flags, idOrName)
  })
}

const changeOptions = ({ changelog, expectedVersion }: WriteFlags) => definedOptions({ changelog, expectedVersion })

function editByFile(host: CliHost, flags: EditFlags, { idOrName, file }: { idOrName: string; file: string }) {
  const input = ({ changelog, ...fields }: Readonly<Record<string, unknown>>) => ({
    ...fields,
    ...definedOptions({ changelog: changelog ?? undefined }),
    idOrName,
    ...changeOptions(flags),
  })
  return writeTool(host, flags, { file, operation: changeTool, input, text: toolStateText })
}

async function editByFields(host: CliHost, flags: EditFlags, idOrName: string): Promise<void> {
  const answer = await withRegistry(host, flags, async (registry) => {
    const tool = await registry.invoke(getTool, { idOrName })
    const script =
      flags.script === undefined ? {} : { scriptContent: readTextFile(flags.script, 4 * registryLimits.script) }
    const fields = await withCategory(registry, { ...setToolFields(flags.set ?? [], tool), ...script })
    const input = { expectedVersion: tool.version, ...fields, idOrName, ...changeOptions(flags) }
    return registry.invoke(changeTool, input)
  })
  host.out(flags.json ? toJson(answer) : toolStateText(answer))
  printWarnings(host, answer)
}

/** The registry is closed while the editor is open; the version detects concurrent changes. */
async function editInEditor(host: CliHost, flags: EditFlags, idOrName: string): Promise<void> {
  const { tool, category } = await withRegistry(host, flags, async (registry) => {
    const tool = await registry.invoke(getTool, { idOrName })
    const { categoryId } = tool
    const category = categoryId === null ? null : (await registry.invoke(getCategory, { idOrName: categoryId })).name
    return { tool, category }
  })
  const edited = new EditedTool(tool, category)
  for (let isDone = false; !isDone; ) {
    await host.edit(edited.file).catch((thrown: unknown) => {
      edited.remove()
      throw thrown
    })
    isDone = await applyChanges(host, flags, { tool, edited }).catch((thrown) =>
      retryOrLeave(host, thrown, { tool, edited }),
    )
  }
  edited.remove()
}

/** Applies the changes in the file. */
async function applyChanges(host: CliHost, flags: EditFlags, { tool, edited }: Editing): Promise<true> {
  const changed = edited.changes()
  if (changed.size === 0) host.out(flags.json ? toJson(tool) : 'Nothing changed.\n')
  else {
    const about = { idOrName: tool.id, expectedVersion: tool.version, ...changeOptions(flags) }
    const input = (fields: object) => ({
      ...Object.fromEntries(Object.entries(fields).filter(([key]) => changed.has(key))),
      ...about,
    })
    await writeTool(host, flags, { file: edited.file, operation: changeTool, input, text: toolStateText })
  }
  return true
}

/** Keeps rejected text: the user edits it again, or the file stays for later. */
async function retryOrLeave(host: CliHost, thrown: unknown, { tool, edited: { file } }: Editing): Promise<false> {
  const error = toTooldexError(thrown)
  if (!host.interactive || error.problems.length === 0) {
    const hint = `Your text is kept: fix ${file}, then run: tooldex tools edit ${tool.name} ${file}`
    throw new TooldexError(error.code, error.message, { hint, problems: error.problems, cause: thrown })
  }
  reportError(error, host, { json: false })
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  try {
    await prompt.question(`Press Enter to fix it, Ctrl+C to stop (kept in ${file}) `, { signal: host.signal })
  } finally {
    prompt.close()
  }
  return false
}

/** A temporary YAML file of a tool for an editor. */
class EditedTool {
  readonly file: string
  readonly #folder: string
  readonly #before: Readonly<Record<string, unknown>>

  /** The category is written by its name. */
  constructor(tool: RegisteredTool, category: string | null) {
    this.#folder = mkdtempSync(join(tmpdir(), 'tooldex-edit-'))
    this.file = join(this.#folder, `${tool.name}.yaml`)
    const fields = Object.keys(ToolContent.shape).map((key) =>
      key === 'categoryId' ? ['category', category] : [key, tool[key as keyof RegisteredTool]],
    )
    const text = writeYaml({ ...Object.fromEntries(fields), changelog: null })
    writeFileSync(this.file, `${heading(tool)}${text}`, { mode: 0o600 })
    this.#before = readToolFile(this.file).fields
  }

  /** The registry names of the changed fields; none if only the changelog changed. */
  changes(): ReadonlySet<string> {
    const { fields, scriptProblem } = readToolFile(this.file)
    if (scriptProblem !== undefined) return new Set(['scriptContent'])
    const changed = Object.keys(fields).filter((key) => !isDeepStrictEqual(fields[key], this.#before[key]))
    if (changed.every((key) => key === 'changelog')) return new Set()
    return new Set(changed.map((key) => (key === 'category' ? 'categoryId' : key)))
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

const heading = ({ name, version, status }: RegisteredTool): string =>
  `# ${name}, version ${version}, ${status}. Save and close to create the next version; close without changes to keep the current one.
# Fields removed from the file keep their values. Describe the change in the changelog at the end.
`

const textFields = new Set(
  'name displayName description namespace summary notes securitySummary scriptContent executorType category'.split(' '),
)
const hint = 'Write --set displayName="Send report", --set tags=[a,b] or --set executorConfig.timeoutMs=5000.'

/** Parses `--set field=value` options: a whole field, or a part of one by a dotted path. */
export function setToolFields(assignments: readonly string[], tool: RegisteredTool): Record<string, unknown> {
  const changed: Record<string, unknown> = {}
  for (const assignment of assignments) {
    const [, path = '', value = ''] = /^([^=]+)=(.*)$/s.exec(assignment) ?? []
    const [first = '', ...inner] = path.trim().split('.')
    if (first === '' || inner.includes('') || inner.includes('__proto__'))
      throw new TooldexError('USAGE', `--set takes field=value, not '${assignment.slice(0, 100)}'.`, { hint })
    const field = first.replaceAll(/(?<=.)_([a-z])/g, (_, character: string) => character.toUpperCase())
    const current = field in changed ? changed[field] : tool[field as keyof RegisteredTool]
    changed[field] =
      inner.length === 0 ? readValue(field, value) : replaceAt(current, inner, readYaml(value, assignment))
  }
  return changed
}

/** Text fields are not parsed; an empty value or `null` clears them. */
function readValue(field: string, value: string): unknown {
  if (!textFields.has(field)) return readYaml(value, `${field}=${value}`)
  return value === '' || value === 'null' ? null : value
}

function readYaml(text: string, assignment: string): unknown {
  const { value, problems } = parseJsonOrYaml(text, '--set')
  if (problems.length === 0) return value
  throw new TooldexError('USAGE', `--set ${assignment.slice(0, 100)}: ${problems[0]?.message}`, { hint })
}

/** Returns a copy of a value with the part at a path replaced. */
function replaceAt(value: unknown, [name = '', ...rest]: readonly string[], inner: unknown): unknown {
  const part = (value as Record<string, unknown> | null | undefined)?.[name]
  const replacement = rest.length === 0 ? inner : replaceAt(part, rest, inner)
  if (Array.isArray(value)) {
    const index = Number(name)
    if (!/^\d+$/.test(name) || index > value.length)
      throw new TooldexError('USAGE', `There is no item ${name} in an array of ${value.length}.`, { hint })
    return value.toSpliced(index, 1, replacement)
  }
  if (typeof value !== 'object' && value !== undefined)
    throw new TooldexError(
      'USAGE',
      `Cannot set ${name} in '${String(value).slice(0, 100)}', which is not an object or array.`,
      {
        hint,
      },
    )
  return { ...value, [name]: replacement }
}
