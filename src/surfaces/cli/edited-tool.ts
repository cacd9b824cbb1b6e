import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { TooldexError } from '../../base/errors.ts'
import { type RegisteredTool, ToolContent } from '../../contract/registry.ts'
import { parseJsonOrYaml } from '../../documents/json-document.ts'
import { writeYaml } from '../../documents/write-yaml.ts'
import { readToolFile } from './read-tool-file.ts'

/** A temporary YAML file of a tool for an editor. */
export class EditedTool {
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
export function setFields(assignments: readonly string[], tool: RegisteredTool): Record<string, unknown> {
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
