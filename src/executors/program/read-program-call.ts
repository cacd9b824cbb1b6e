import { fitOf, isObject } from '../../base/json-values.ts'
import type { ProgramCall } from '../../contract/executor.ts'
import { programLimits } from './program-limits.ts'

/** A call of a program, or its error where it has more values or levels than the body of a request may have. */
export function readProgramCall(text: string): ProgramCall | { readonly code: string; readonly message: string } {
  const call: unknown = JSON.parse(text)
  if (!isObject(call)) throw new Error('not a call')
  const { argumentValues, argumentLevels } = programLimits
  // The call itself is a level.
  const fit = fitOf(call, { values: argumentValues, levels: argumentLevels + 1 })
  if (fit === 'fits') return call as unknown as ProgramCall
  const limit = fit === 'many' ? `${argumentValues} values` : `${argumentLevels} levels`
  return { code: 'INPUT_INVALID', message: `The arguments of a call may have at most ${limit}.` }
}
