import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type Problem, TooldexError } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { locateInJson } from '../../ui/locate-in-json.ts'
import { useSettled } from '../../ui/use-settled.ts'
import { readObject } from '../edit/tool-form.ts'

const none: readonly Problem[] = []

/** The problems of arguments in JSON, found by a dry run while they are typed. */
export function useInputCheck(idOrName: string, json: string | undefined, mayCall: boolean): readonly Problem[] {
  const text = useSettled(json)
  const read = text === undefined ? undefined : readObject(text)
  const isReadable = read !== undefined && 'value' in read
  const { data } = useQuery({
    queryKey: ['input-check', idOrName, text],
    queryFn: ({ signal }) => check(idOrName, isReadable ? { ...read.value } : {}, signal),
    enabled: mayCall && isReadable,
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  })
  if (text === undefined || read === undefined) return none
  if (!isReadable) return [{ severity: 'error', ...read }]
  return locateInJson(text, data ?? none)
}

async function check(
  idOrName: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<readonly Problem[]> {
  try {
    await api.tools.execute({ idOrName, input, dryRun: true }, { signal })
    return none
  } catch (thrown) {
    // Others, such as a missing permission, are shown by the run itself.
    return thrown instanceof TooldexError ? thrown.problems : none
  }
}
