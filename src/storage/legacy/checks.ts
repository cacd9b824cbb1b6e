import { TooldexError } from '../../base/errors.ts'
import { ExecutorType, registryLimits } from '../../contract/registry.ts'
import { toolStatus } from '../schema.ts'
import type { OldRow } from './rows.ts'

const maxNamed = 10
const maxShown = 60

/** Refuses what ours cannot have, all of it at once and by name: a value that is changed in silence is lost. */
export function checkOlderRows(
  categories: readonly OldRow[],
  tools: readonly OldRow[],
  versions: readonly OldRow[],
): void {
  const names = new Map(tools.map((tool) => [String(tool.id), String(tool.name)]))
  refuse([
    ...categories.flatMap(({ name }) => tooLong(`the name of the category ${show(name)}`, name, 'category')),
    ...tools.flatMap(problemsOfTool),
    ...versions.flatMap((row) =>
      notObjects(`version ${show(row.version)} of the tool ${show(names.get(String(row.tool_id)))}`, row),
    ),
  ])
}

/** Refuses a status that ours does not know. */
export function checkStatuses(what: string, statuses: readonly unknown[], known: readonly string[]): void {
  const bad = new Set(statuses.map((status) => String(status ?? '')).filter((status) => !known.includes(status)))
  if (bad.size === 0) return
  const named = [...bad].slice(0, maxNamed).join(', ')
  throw new TooldexError('MIGRATION_FAILED', `There is no such ${what} status: ${named}.`, {
    hint: `Set it to one of ${known.join(', ')} in the old database first.`,
  })
}

/** A category that is its own ancestor. */
export const circleRefusal = (): TooldexError =>
  new TooldexError('MIGRATION_FAILED', 'The old categories are each other’s parents in a circle.')

function problemsOfTool(tool: OldRow): readonly string[] {
  const the = `the tool ${show(tool.name)}`
  const name = String(tool.name)
  return [
    ...(/^[a-z0-9_]+$/.test(name) ? [] : [`the name of ${the} is not in snake_case`]),
    ...tooLong(`the name of ${the}`, name, 'name'),
    ...tooLong(`the display_name of ${the}`, tool.display_name, 'displayName'),
    ...tooLong(`the description of ${the}`, tool.description, 'description'),
    ...tooLong(`the script_content of ${the}`, tool.script_content, 'script'),
    ...(tool.input_schema == null ? [`input_schema of ${the} is no object`] : []),
    ...notObjects(the, tool),
    ...problemsOfTags(the, tool.tags),
    ...(tool.executor_type == null || ExecutorType.safeParse(tool.executor_type).success
      ? []
      : [`the executor_type of ${the} is ${show(tool.executor_type)}, not one of ${ExecutorType.options.join(', ')}`]),
  ]
}

function problemsOfTags(the: string, tags: unknown): readonly string[] {
  if (tags == null) return []
  if (!Array.isArray(tags)) return [`tags of ${the} is no list`]
  if (tags.some((tag) => typeof tag === 'object' && tag !== null)) return [`tags of ${the} has what is no text`]
  return tags.flatMap((tag) => tooLong(`the tag ${show(tag)} of ${the}`, tag, 'tag'))
}

const notObjects = (the: string, row: OldRow): readonly string[] =>
  ['input_schema', 'output_schema', 'executor_config']
    .filter((field) => row[field] != null && (typeof row[field] !== 'object' || Array.isArray(row[field])))
    .map((field) => `${field} of ${the} is no object`)

function tooLong(what: string, value: unknown, limit: keyof typeof registryLimits): readonly string[] {
  const { length } = String(value ?? '')
  const most = registryLimits[limit]
  return length > most ? [`${what} is too long: ${length} characters, ${most} at most`] : []
}

function show(value: unknown): string {
  const text = String(value)
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
}

function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return
  const more = problems.length > maxNamed ? `; and ${problems.length - maxNamed} more` : ''
  const named = problems.slice(0, maxNamed).join('; ')
  throw new TooldexError('MIGRATION_FAILED', `What is in the older tables cannot be brought over: ${named}${more}.`, {
    hint: 'Nothing was changed; mend it in the old database first.',
  })
}

/** The statuses of tools, where one that is not set is the first. */
export const checkToolStatuses = (tools: readonly OldRow[]): void =>
  checkStatuses(
    'tool',
    tools.map(({ status }) => status ?? 'DRAFT'),
    toolStatus.enumValues,
  )
