import * as z from 'zod'
import { toProblem } from '../diagnostics/finding.ts'
import { toProblemError } from '../diagnostics/problem-error.ts'
import { describeShape } from '../diagnostics/shape-problems.ts'
import { describedParse } from '../diagnostics/zod-issues.ts'

const content = z.looseObject({})

/** The shape of the options of a catalog; the parts are validated where they are read. */
const Options = z.strictObject({
  configs: z.array(z.union([z.string(), content])).optional(),
  servers: z.record(z.string(), z.unknown()).optional(),
  functions: z.array(z.unknown()).optional(),
  database: z
    .union([z.strictObject({ url: z.string().min(1) }), z.strictObject({ home: z.string().min(1) })])
    .optional(),
  policy: z.union([z.string(), content]).optional(),
  codeMode: z.boolean().optional(),
  log: z.custom((value) => typeof value === 'function', 'must be a function').optional(),
})

/** Rejects options that programs without types may pass, instead of ignoring them. */
export function checkOptions(options: unknown): void {
  const parsed = Options.safeParse(options, describedParse)
  if (parsed.success) return
  const problems = parsed.error.issues.flatMap((issue) => describeShape(Options, issue)).map((each) => toProblem(each))
  const hint = 'See docs/guides/library.md for the options.'
  throw toProblemError({
    code: 'INPUT_INVALID',
    what: 'The options of createTooldex',
    problems,
    maxInMessage: 10,
    hint,
  })
}
