import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useRef, useState } from 'react'
import type { OperationOutput } from 'tooldex/client'
import { api } from '../../api/client.ts'

type Execution = OperationOutput<'executions.get'>
type DryRun = Extract<OperationOutput<'tools.execute'>, { dryRun: true }>

/** A part of the output of a running tool. */
export interface OutputPart {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** The state of a run that this page started. */
export interface RunState {
  readonly phase: 'idle' | 'starting' | 'running' | 'ended' | 'failed'
  readonly execution?: Execution
  readonly plan?: DryRun
  readonly output: readonly OutputPart[]
  readonly error?: unknown
}

interface RunRequest {
  readonly idOrName: string
  readonly input: Readonly<Record<string, unknown>>
  readonly version?: number
}

const idle: RunState = { phase: 'idle', output: [] }
/** Older output than these parts is dropped; the execution has all of it. */
const maxParts = 500

/** Starts a tool, follows its output, and cancels it. */
export function useRun() {
  const [state, setState] = useState<RunState>(idle)
  const queries = useQueryClient()
  const following = useRef<AbortController>(null)

  const plan = useCallback(async (request: RunRequest) => {
    following.current?.abort()
    setState({ phase: 'starting', output: [] })
    try {
      const planned = await api.tools.execute({ ...request, input: { ...request.input }, dryRun: true })
      setState({ phase: 'ended', output: [], plan: planned as DryRun })
    } catch (error) {
      setState({ phase: 'failed', output: [], error })
    }
  }, [])

  const start = useCallback(
    async (request: RunRequest) => {
      following.current?.abort()
      const control = new AbortController()
      following.current = control
      setState({ phase: 'starting', output: [] })
      try {
        const begun = (await api.tools.execute({ ...request, input: { ...request.input } })) as Execution
        setState({ phase: 'running', execution: begun, output: [] })
        for await (const event of api.follow(begun.id, { signal: control.signal })) {
          if (event.event === 'output')
            setState((before) => ({ ...before, output: [...before.output, event].slice(-maxParts) }))
          else
            setState((before) => ({
              ...before,
              phase: event.event === 'end' ? 'ended' : 'running',
              execution: event.execution,
            }))
        }
        for (const changed of ['statistics', 'executions', 'queue'])
          void queries.invalidateQueries({ queryKey: [changed] })
      } catch (error) {
        if (!control.signal.aborted) setState((before) => ({ ...before, phase: 'failed', error }))
      }
    },
    [queries],
  )

  const cancel = useCallback(async (id: string) => {
    try {
      await api.executions.cancel({ id })
    } catch (error) {
      setState((before) => ({ ...before, error }))
    }
  }, [])

  return { state, plan, start, cancel }
}
