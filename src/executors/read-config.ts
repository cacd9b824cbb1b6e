import * as z from 'zod'
import type { Problem } from '../base/problem.ts'
import { type Dependents, diagnose } from '../diagnostics/diagnose.ts'
import { type Finding, toProblem } from '../diagnostics/finding.ts'
import { readParameters, type SchemaParameters } from '../json-schema/read-parameters.ts'

/** The timeout of a run, in the config of every executor kind. */
export const TimeoutMs = z.int().min(1).max(3_600_000)

/** The label of the workers that may run a tool. */
export const WorkerLabel = z.string().min(1).max(64)

/** The JSON Schema of a tool's arguments, as data. */
export type InputSchema = { readonly [key: string]: unknown }

/** Validates a config against the schema of the tool's arguments; `pointer` is the location of the config. */
export type CheckConfig = (config: unknown, inputSchema: InputSchema, pointer: string) => readonly Problem[]

/** Checks read whole fields, and the body of a request depends on its method. */
const dependents: Dependents = ([field = '']) => (field === 'method' ? [[field], ['body']] : [[field]])

/** A config check: the shape by the schema, then the content of the fields whose shape is valid. */
export function defineConfigCheck<T>(
  schema: z.ZodType<T>,
  check: (config: T, parameters: SchemaParameters) => readonly Finding[],
): CheckConfig {
  return (config, inputSchema, pointer) => {
    const { findings, wrong } = diagnose(config, { schema, dependents }, (valid) =>
      check(valid, readParameters(inputSchema)),
    )
    // Warnings may be consequences of the missing fields.
    const certain = wrong.length === 0 ? findings : findings.filter(({ severity }) => severity !== 'warning')
    return certain.map((finding) => toProblem(finding, pointer))
  }
}
