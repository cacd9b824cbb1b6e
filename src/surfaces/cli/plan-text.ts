import type * as z from 'zod'
import { showInvisible, toOneLine } from '../../base/visible-text.ts'
import type { importBundle } from '../../operations/registry/bundles.ts'

type Answer = z.output<typeof importBundle.output>
type Part = Omit<Answer['plan'], 'categories' | 'policies'>

/** Formats the changes of an import, one per line: + for new, ~ for changed, - for removed. */
export function bundlePlanText({ plan, diffs, applied, warnings }: Answer): string {
  const texts = new Map(diffs.map(({ tool, text }) => [tool, text]))
  const lines = [
    ...partLines('category', plan.categories),
    ...partLines('policy', plan.policies),
    ...partLines('tool', plan, texts),
  ]
  const notes = warnings.map((warning) => `warning: ${showInvisible(warning)}`)
  if (lines.length === 0) return [...notes, 'Nothing to do: the registry matches the files.', ''].join('\n')
  return [...notes, ...lines, countText(plan, applied), ''].join('\n')
}

function partLines(kind: string, part: Part, texts?: ReadonlyMap<string, string>): readonly string[] {
  return [
    ...part.create.map((name) => `+ ${kind} ${toOneLine(name)}`),
    ...part.change.flatMap((change) => [
      `~ ${kind} ${toOneLine(change.name)}: ${fieldsText(change)}`,
      ...indented(texts?.get(change.name)),
    ]),
    ...part.remove.map((name) => `- ${kind} ${toOneLine(name)}`),
  ]
}

/** The changed fields; the status with its old and new value. */
const fieldsText = ({ fields, status }: Part['change'][number]): string =>
  fields
    .map((field) => (field === 'status' && status !== undefined ? `status ${status.from} -> ${status.to}` : field))
    .join(', ')

const indented = (text: string | undefined): readonly string[] =>
  text === undefined ? [] : text.split('\n').map((line) => `    ${line}`)

function countText({ categories, policies, ...tools }: Answer['plan'], applied: boolean): string {
  const parts: readonly Part[] = [tools, categories, policies]
  const sum = (of: (part: Part) => number) => parts.reduce((total, part) => total + of(part), 0)
  const [created, changed] = [sum(({ create }) => create.length), sum(({ change }) => change.length)]
  const [removed, same] = [sum(({ remove }) => remove.length), sum(({ unchanged }) => unchanged)]
  const done = applied ? '' : ' (dry run: nothing was changed)'
  return `${created} new, ${changed} changed, ${removed} removed, ${same} unchanged${done}`
}
