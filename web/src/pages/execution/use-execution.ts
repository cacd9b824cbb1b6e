import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { OperationOutput } from 'tooldex/client'
import { api } from '../../api/client.ts'

/** One recorded run. */
export type Execution = OperationOutput<'executions.get'>

/** A part of the output of a run, in the order in which it was printed. */
export interface OutputPart {
  readonly seq: number
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

const maxParts = 2000

/** Whether a run has not ended. */
export const isOpen = ({ status }: Pick<Execution, 'status'>): boolean => status === 'PENDING' || status === 'RUNNING'

/** A run, and while it has not ended its state and output as they change. */
export function useExecution(id: string) {
  const queries = useQueryClient()
  const query = useQuery({ queryKey: ['executions', id], queryFn: () => api.executions.get({ id }) })
  const [output, setOutput] = useState<readonly OutputPart[]>([])
  const [error, setError] = useState<unknown>()
  const isLive = query.data !== undefined && isOpen(query.data)
  useEffect(() => {
    if (!isLive) return
    const stop = new AbortController()
    const follow = async () => {
      setOutput([])
      setError(undefined)
      for await (const event of api.follow(id, { signal: stop.signal }))
        if (event.event === 'output') setOutput((parts) => [...parts, event].slice(-maxParts))
        else queries.setQueryData(['executions', id], event.execution)
    }
    follow().catch((thrown: unknown) => !stop.signal.aborted && setError(thrown))
    return () => stop.abort()
  }, [id, isLive, queries])
  return { ...query, error: query.error ?? error ?? null, output, isLive }
}
