import { JsonText } from '../base/json-text.ts'
import { lazyModule } from '../base/lazy-module.ts'
import type { RunnableTool } from '../contract/executor.ts'
import { findExecutorKind } from '../contract/executor-kinds.ts'
import type { RunOutcome } from '../contract/run.ts'
import { finishOutput } from './output-threads.ts'

const loadScan = lazyModule(() => import('../rules/suspicious-result.ts'))

/** A longer text is scanned in a worker thread. */
const maxScannedHere = 16 * 1024
const unscanned = ['is too large to be scanned for instructions']

/** The outcome with the signs that a result of another service tries to direct its reader; the result itself stays. */
export async function markSuspicious({ executorType }: RunnableTool, outcome: RunOutcome): Promise<RunOutcome> {
  if (findExecutorKind(executorType)?.hasForeignResults !== true) return outcome
  const { output = null, errorMessage, result } = outcome
  // An error message often repeats the text of the output.
  const found = [...(await scanValue(output)), ...(await scanValue([errorMessage, result.stderr]))]
  const suspicious = [...new Set(found)]
  return suspicious.length === 0 ? outcome : { ...outcome, suspicious }
}

/** The signs of instructions to models in a value. */
export async function scanValue(value: unknown): Promise<readonly string[]> {
  if (value === null || value === undefined || value === '') return []
  const isJson = typeof value !== 'string'
  const text = value instanceof JsonText ? value.json : isJson ? (JSON.stringify(value) ?? '') : value
  if (text.length <= maxScannedHere) {
    const { findSuspiciousInResult } = await loadScan()
    return findSuspiciousInResult(value instanceof JsonText ? JSON.parse(text) : value)
  }
  // A result that cannot be scanned is not passed on as if it had been.
  return finishOutput({ kind: 'scan', text, isJson }).catch(() => unscanned)
}
