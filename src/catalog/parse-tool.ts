import type * as z from 'zod'
import { TooldexError } from '../base/errors.ts'
import { deepFreeze } from '../base/json-values.ts'
import { type Problem, toPointer } from '../base/problem.ts'
import { CatalogTool } from '../contract/catalog.ts'
import { describedParse, describeZodIssue } from '../diagnostics/zod-issues.ts'
import { normalizeTags } from '../rules/normalize-tags.ts'
import { formatToolId } from '../rules/tool-id.ts'

/** Validates a tool and returns its catalog form: frozen, tags in canonical form, no empty namespace. */
export function parseTool(input: unknown, what = 'invalid tool'): CatalogTool {
  const { namespace, ...tool } = readInput(CatalogTool, input, what)
  const tags = normalizeTags(tool.tags)
  return deepFreeze({ ...tool, ...(namespace === undefined || namespace === '' ? {} : { namespace }), tags })
}

/** The id of a tool: `namespace:name:version`, `namespace:name` or `name`. */
export function toolIdOf(tool: CatalogTool): string {
  const { namespace, name, version } = tool
  return formatToolId({
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(version === undefined ? {} : { version }),
  })
}

/** Validates an input and returns a frozen JSON copy; `what` is the start of the error message. */
export function readInput<Schema extends z.ZodType>(schema: Schema, input: unknown, what: string): z.output<Schema> {
  const parsed = schema.safeParse(input)
  // The options that describe a problem cost a tenth of the parsing of a valid input.
  if (!parsed.success) throw refuse(what, (schema.safeParse(input, describedParse).error?.issues ?? []).map(toProblem))
  try {
    return deepFreeze(JSON.parse(JSON.stringify(parsed.data)) as z.output<Schema>)
  } catch (cause) {
    throw new TooldexError('INPUT_INVALID', `${what}: it is not plain JSON`, { cause })
  }
}

function toProblem(issue: z.core.$ZodIssue): Problem {
  const message = issue.code === 'custom' ? issue.message : describeZodIssue(issue).message
  return { severity: 'error', message, pointer: toPointer(issue.path) }
}

function refuse(what: string, problems: readonly Problem[]): TooldexError {
  return new TooldexError('INPUT_INVALID', `${what}: ${problems.map(({ message }) => message).join('; ')}`, {
    problems,
  })
}
