import { TooldexError } from '../../base/errors.ts'
import { ExecutorType } from '../../contract/executor-kinds.ts'
import { registryLimits } from '../../contract/registry.ts'
import { toolStatus } from '../schema.ts'
import type { OldRow } from './rows.ts'

const maxListed = 10
const maxValueLength = 60

/** Rejects values that the current schema cannot store, all at once: a silently changed value would be lost. */
export function checkOlderRows(
  categories: readonly OldRow[],
  tools: readonly OldRow[],
  versions: readonly OldRow[],
): void {
  const names = new Map(tools.map((tool) => [String(tool.id), String(tool.name)]))
  rejectProblems([
    ...categories.flatMap(({ name }) => tooLong(`the name of the category ${shorten(name)}`, name, 'category')),
    ...tools.flatMap(problemsOfTool),
    ...versions.flatMap((row) =>
      notObjects(`version ${shorten(row.version)} of the tool ${shorten(names.get(String(row.tool_id)))}`, row),
    ),
  ])
}

/** Rejects unknown statuses. */
export function checkStatuses(kind: string, statuses: readonly unknown[], valid: readonly string[]): void {
  const unknown = new Set(statuses.map((status) => String(status ?? '')).filter((status) => !valid.includes(status)))
  if (unknown.size === 0) return
  const list = [...unknown].slice(0, maxListed).join(', ')
  throw new TooldexError('MIGRATION_FAILED', `Unknown ${kind} status: ${list}.`, {
    hint: `Set it to one of ${valid.join(', ')} in the old database first.`,
  })
}

/** The error for a category that is its own ancestor. */
export const circleError = (): TooldexError =>
  new TooldexError('MIGRATION_FAILED', 'The parents of the old categories form a circle.', {
    hint: 'Nothing was changed; set parent_id of one of them to null in the old database first.',
  })

function problemsOfTool(tool: OldRow): readonly string[] {
  const the = `the tool ${shorten(tool.name)}`
  const name = String(tool.name)
  return [
    ...(/^[a-z0-9_]+$/.test(name) ? [] : [`the name of ${the} is not in snake_case`]),
    ...tooLong(`the name of ${the}`, name, 'name'),
    ...tooLong(`the display_name of ${the}`, tool.display_name, 'displayName'),
    ...tooLong(`the description of ${the}`, tool.description, 'description'),
    ...tooLong(`the script_content of ${the}`, tool.script_content, 'script'),
    ...(tool.input_schema == null ? [`input_schema of ${the} is not an object`] : []),
    ...notObjects(the, tool),
    ...problemsOfTags(the, tool.tags),
    ...(tool.executor_type == null || ExecutorType.safeParse(tool.executor_type).success
      ? []
      : [
          `the executor_type of ${the} is ${shorten(tool.executor_type)}, not one of ${ExecutorType.options.join(', ')}`,
        ]),
  ]
}

function problemsOfTags(the: string, tags: unknown): readonly string[] {
  if (tags == null) return []
  if (!Array.isArray(tags)) return [`tags of ${the} is not an array`]
  if (tags.some((tag) => typeof tag === 'object' && tag !== null))
    return [`tags of ${the} contains a value that is not a string`]
  return tags.flatMap((tag) => tooLong(`the tag ${shorten(tag)} of ${the}`, tag, 'tag'))
}

const notObjects = (the: string, row: OldRow): readonly string[] =>
  ['input_schema', 'output_schema', 'executor_config']
    .filter((field) => row[field] != null && (typeof row[field] !== 'object' || Array.isArray(row[field])))
    .map((field) => `${field} of ${the} is not an object`)

function tooLong(what: string, value: unknown, limit: keyof typeof registryLimits): readonly string[] {
  const { length } = String(value ?? '')
  const max = registryLimits[limit]
  return length > max ? [`${what} is too long: ${length} characters, ${max} at most`] : []
}

function shorten(value: unknown): string {
  const text = String(value)
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text
}

function rejectProblems(problems: readonly string[]): void {
  if (problems.length === 0) return
  const more = problems.length > maxListed ? `; and ${problems.length - maxListed} more` : ''
  const list = problems.slice(0, maxListed).join('; ')
  throw new TooldexError('MIGRATION_FAILED', `The older tables cannot be converted: ${list}${more}.`, {
    hint: 'Nothing was changed; fix the listed problems in the old database first.',
  })
}

/** Validates the statuses of tools; a missing one means DRAFT. */
export const checkToolStatuses = (tools: readonly OldRow[]): void =>
  checkStatuses(
    'tool',
    tools.map(({ status }) => status ?? 'DRAFT'),
    toolStatus.enumValues,
  )
