import { TooldexError } from '../base/errors.ts'
import { fitOf } from '../base/json-values.ts'

/** Databases and serializers are recursive. */
const maxLevels = 1000

/** Rejects an output that nests too deeply to be stored. */
export function requireLevels(output: unknown): unknown {
  if (fitOf(output, { levels: maxLevels }) === 'fits') return output
  throw new TooldexError('OUTPUT_LIMIT', `The output nests deeper than ${maxLevels} levels.`, {
    hint: 'Return a flatter value.',
  })
}
