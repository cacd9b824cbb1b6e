import { toTooldexError } from '../../base/errors.ts'
import type { Finding } from '../../diagnostics/finding.ts'
import { type Fields, fieldOf, isFields, spellingIn } from './bundle-view.ts'

/** Reads the file that a tool names as its script. */
export type ReadScript = (path: string) => string

interface Filled<T> {
  readonly value: T
  readonly findings: readonly Finding[]
}

/** Replaces each `scriptFile` by the content of that file. */
export function fillScripts(value: unknown, readScript: ReadScript | undefined): Filled<unknown> {
  if (!isFields(value) || !Array.isArray(value.tools)) return { value, findings: [] }
  const filled = value.tools.map((tool: unknown) =>
    isFields(tool) ? fill(tool, readScript) : { value: tool, findings: [] },
  )
  const findings = filled.flatMap((tool, index) =>
    tool.findings.map((found) => ({ ...found, path: ['tools', index, ...found.path] })),
  )
  return { value: { ...value, tools: filled.map((tool) => tool.value) }, findings }
}

function fill(tool: Fields, readScript: ReadScript | undefined): Filled<Fields> {
  const key = spellingIn(tool, 'scriptFile')
  if (key === undefined) return { value: tool, findings: [] }
  const { [key]: path, ...value } = tool
  const wrong = (message: string, hint: string) => ({ value, findings: [{ path: ['scriptFile'], message, hint }] })
  if (typeof path !== 'string') return wrong('scriptFile must be a path', 'write ./name.py')
  if (fieldOf(tool, 'scriptContent') !== undefined)
    return wrong('the tool has a scriptFile and a scriptContent', 'keep one of them')
  if (readScript === undefined)
    return wrong('scriptFile is known only where a folder is read', 'put the text into scriptContent')
  try {
    return { value: { ...value, scriptContent: readScript(path) }, findings: [] }
  } catch (thrown) {
    const { message, hint } = toTooldexError(thrown)
    return wrong(`scriptFile: ${message}`, hint)
  }
}
