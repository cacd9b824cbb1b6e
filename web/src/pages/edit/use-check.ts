import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type OperationInput, type OperationOutput, type Problem, TooldexError } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { useSettled } from '../../ui/use-settled.ts'
import { readEdits, readForm, type ToolForm } from './tool-form.ts'

type Registered = OperationOutput<'registry.get'>
type Draft = OperationInput<'registry.validateDraft'>

/** What the server finds in a form. */
interface Check {
  readonly problems: readonly Problem[]
  /** The differences of a valid change. */
  readonly diff?: OperationOutput<'versions.diffChange'>
}

/** The problems of a form while it is edited, and the class of a change. */
export function useCheck(form: ToolForm, base: Registered | undefined, start: ToolForm) {
  const settled = useSettled(form)
  const read = base === undefined ? readForm(settled) : readEdits(settled, start)
  const isReadable = read.problems.length === 0
  const { data, error, isPlaceholderData, isFetching } = useQuery({
    queryKey: ['check', base?.id, base?.version, read.content],
    queryFn: ({ signal }) => check(base, read.content, signal),
    enabled: isReadable,
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  })
  const isCurrent = settled === form && !isFetching && !isPlaceholderData
  if (!isReadable) return { problems: read.problems, isChecked: settled === form, diff: undefined, error: null }
  return { problems: data?.problems ?? [], isChecked: isCurrent, diff: data?.diff, error }
}

async function check(base: Registered | undefined, content: object, signal: AbortSignal): Promise<Check> {
  try {
    if (base === undefined) {
      const { problems } = await api.tools.validateDraft(content as Draft, { signal })
      return { problems: problems as readonly Problem[] }
    }
    const diff = await api.versions.diffChange({ idOrName: base.id, ...content }, { signal })
    return { problems: (diff.warnings ?? []) as readonly Problem[], diff }
  } catch (thrown) {
    if (thrown instanceof TooldexError && thrown.problems.length > 0) return { problems: thrown.problems }
    throw thrown
  }
}
