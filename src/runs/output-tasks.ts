import { sameJson } from '../base/json-values.ts'
import type { ResultContent } from '../contract/execution.ts'
import type { Replacement } from '../contract/secret.ts'
import { redactJson, replaceAll } from '../rules/redact-json.ts'
import { requireStorableLevels, storableJson } from '../rules/storable.ts'
import { findSuspiciousInResult } from '../rules/suspicious-result.ts'
import { previewValue } from './preview.ts'
import { type ResultQuery, type ResultSlice, readResult } from './read-result.ts'

/** Work on an output whose cost grows with its size. */
export type OutputTask =
  | { readonly kind: 'read'; readonly content: ResultContent; readonly query: ResultQuery }
  | {
      readonly kind: 'redact'
      readonly text: string
      readonly isJson: boolean
      readonly replacements: readonly Replacement[]
    }
  | { readonly kind: 'scan'; readonly text: string; readonly isJson: boolean }
  | { readonly kind: 'shape'; readonly json: string; readonly stdout: string; readonly previewBytes: number }

/** The result of each kind of task. */
export interface OutputResults {
  readonly read: ResultSlice
  /** Undefined where nothing was replaced. */
  readonly redact: string | undefined
  /** The signs of instructions to models. */
  readonly scan: readonly string[]
  readonly shape: ShapedJson
}

/** A large JSON output with its stored form and its preview. */
export interface ShapedJson {
  /** Undefined where the text is stored unchanged. */
  readonly content: string | undefined
  readonly preview: unknown
  /** Whether the standard output is the same value. */
  readonly printed: boolean
}

/** Runs one task on this thread. */
export function doOutputTask(task: OutputTask): OutputResults[keyof OutputResults] | Promise<ResultSlice> {
  if (task.kind === 'read') return readResult(task.content, task.query)
  if (task.kind === 'scan') return findSuspiciousInResult(task.isJson ? JSON.parse(task.text) : task.text)
  return task.kind === 'redact' ? redact(task) : shape(task)
}

function redact({ text, isJson, replacements }: OutputTask & { kind: 'redact' }): string | undefined {
  const replace = (part: string) => replaceAll(part, replacements)
  const replaced = isJson ? redactJson(text, replace) : replace(text)
  return replaced === text ? undefined : replaced
}

function shape({ json, stdout, previewBytes }: OutputTask & { kind: 'shape' }): ShapedJson {
  const value = requireStorableLevels(JSON.parse(json))
  const content = storableJson(value)
  const stored: unknown = content === json ? value : JSON.parse(content)
  return {
    content: content === json ? undefined : content,
    preview: previewValue(stored, previewBytes),
    printed: isPrintedOutput(stdout, stored),
  }
}

/** Whether a standard output is the same value; commands with an output schema print it. */
export function isPrintedOutput(stdout: string, output: unknown): boolean {
  if (stdout === '') return false
  try {
    return stdout === output || sameJson(JSON.parse(stdout), output)
  } catch {
    return false
  }
}
