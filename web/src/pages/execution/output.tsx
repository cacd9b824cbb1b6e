import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { JsonView } from '../../ui/json-view.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import type { Execution, OutputPart } from './use-execution.ts'

interface OutputProps {
  readonly execution: Execution
  /** What a run that has not ended has printed. */
  readonly live: readonly OutputPart[]
  readonly isLive: boolean
}

/** The output and the logs of a run, while it runs and afterwards. */
export function Output({ execution, live, isLive }: OutputProps) {
  const { outputData, result, truncated, logs } = execution
  const textOf = (stream: OutputPart['stream']) =>
    live.flatMap((part) => (part.stream === stream ? [part.text] : [])).join('')
  const [stdout, stderr] = isLive ? [textOf('stdout'), textOf('stderr')] : [logs.stdout, logs.stderr]
  const isEmpty = outputData === null && stdout === '' && stderr === ''
  return (
    <Card title="Output">
      <div className="flex flex-col gap-3">
        {isEmpty && (
          <p className="text-sm text-muted" aria-live="polite">
            {isLive ? 'Nothing yet. Output appears here while the tool prints it.' : 'The run had no output.'}
          </p>
        )}
        {outputData !== null && <JsonView label={result === null ? 'Output' : 'Beginning'} value={outputData} />}
        {result !== null && <WholeOutput handle={result.handle} bytes={result.bytes} />}
        {truncated && <p className="text-sm text-warn">The output was cut at the limit of the tool.</p>}
        {stdout !== '' && <CodeBlock label="Standard output">{stdout}</CodeBlock>}
        {stderr !== '' && <CodeBlock label="Standard error">{stderr}</CodeBlock>}
      </div>
    </Card>
  )
}

const pageSize = 200

function WholeOutput({ handle, bytes }: { readonly handle: string; readonly bytes: number }) {
  const [offset, setOffset] = useState<number>()
  const { data, error, isFetching } = useQuery({
    queryKey: ['results', handle, offset],
    queryFn: () => api.results.read({ handle, offset: offset ?? 0, limit: pageSize }),
    enabled: offset !== undefined,
  })
  if (offset === undefined)
    return (
      <Button size="sm" className="self-start" onClick={() => setOffset(0)}>
        Read all of it ({bytes.toLocaleString('en')} bytes)
      </Button>
    )
  return (
    <div className="flex flex-col gap-2">
      {error !== null && <ErrorNotice error={error} />}
      {isFetching && data === undefined && <SkeletonRows rows={3} />}
      {data !== undefined && (
        <>
          <JsonView
            label={`${offset + 1} to ${offset + data.items.length} of ${data.total}`}
            value={data.items.every((item) => typeof item === 'string') ? data.items.join('\n') : data.items}
          />
          <div className="flex gap-2">
            <Button size="sm" disabled={offset === 0} onClick={() => setOffset(Math.max(offset - pageSize, 0))}>
              Back
            </Button>
            <Button size="sm" disabled={data.nextOffset === undefined} onClick={() => setOffset(data.nextOffset ?? 0)}>
              Next
            </Button>
          </div>
        </>
      )}
    </div>
  )
}
