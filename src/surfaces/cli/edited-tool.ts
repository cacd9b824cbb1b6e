import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type RegisteredTool, ToolContent } from '../../contract/registry.ts'
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
