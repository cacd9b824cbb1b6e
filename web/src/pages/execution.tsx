import { useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Ban } from 'lucide-react'
import { errorTable, TooldexError } from 'tooldex/client'
import { api } from '../api/client.ts'
import { useCaller } from '../api/session.ts'
import { Card } from '../ui/card.tsx'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { type Fact, Facts } from '../ui/facts.tsx'
import { JsonView } from '../ui/json-view.tsx'
import { Page } from '../ui/page.tsx'
import { SafeText } from '../ui/safe-text.tsx'
import { SkeletonRows } from '../ui/skeleton.tsx'
import { showToast } from '../ui/toast.tsx'
import { Output } from './execution/output.tsx'
import { RunAgain } from './execution/run-again.tsx'
import { Timeline } from './execution/timeline.tsx'
import { type Execution, useExecution } from './execution/use-execution.ts'
import { DecideButtons } from './executions/decide-buttons.tsx'
import { WaitBadge } from './executions/wait-badge.tsx'

/** One recorded run: timeline, input, output, logs, and who called what where. */
export function ExecutionPage() {
  const { id } = useParams({ strict: false }) as { readonly id: string }
  const { data: execution, error, isPending, refetch, output, isLive } = useExecution(id)
  return (
    <Page
      title={execution === undefined ? 'Execution' : `Run of ${execution.toolName}`}
      heading={
        execution && (
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <SafeText max={200}>{execution.toolName}</SafeText>
            <WaitBadge execution={execution} />
          </span>
        )
      }
      description={<span className="font-mono text-xs">{id}</span>}
      actions={execution && <Actions execution={execution} isLive={isLive} />}
    >
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <SkeletonRows rows={8} />}
      {execution !== undefined && (
        <>
          <Failure execution={execution} />
          <Timeline execution={execution} isLive={isLive} />
          <div className="grid items-start gap-5 lg:grid-cols-2">
            <Card title="Input">
              <JsonView label="Arguments" value={execution.inputData} />
            </Card>
            <Output execution={execution} live={output} isLive={isLive} />
          </div>
          <Card title="Details">
            <Facts facts={factsOf(execution)} />
          </Card>
        </>
      )}
    </Page>
  )
}

function Actions({ execution, isLive }: { readonly execution: Execution; readonly isLive: boolean }) {
  const { data: caller } = useCaller()
  const queries = useQueryClient()
  const { id, toolName, reason } = execution
  const mayDecide = caller?.scopes.includes('write') === true
  const cancel = async () => {
    queries.setQueryData(['executions', id], await api.executions.cancel({ id }))
    showToast(`Cancelled the run of ${toolName}.`)
  }
  return (
    <>
      {reason === 'approval' && <DecideButtons execution={execution} input={execution.inputData} />}
      {isLive && !(reason === 'approval' && mayDecide) && (
        <ConfirmButton
          label="Cancel the run"
          icon={<Ban className="size-3.5" aria-hidden />}
          title="Cancel this run?"
          onConfirm={cancel}
        >
          A waiting run ends at once. A running one is stopped with all of its processes; what it changed before stays
          changed.
        </ConfirmButton>
      )}
      {caller?.scopes.includes('call') === true && <RunAgain execution={execution} />}
    </>
  )
}

const isCode = (code: string | null): code is keyof typeof errorTable =>
  code !== null && Object.hasOwn(errorTable, code)

/** Why a run failed, and what to do. */
function Failure({ execution: { status, errorCode, errorMessage } }: { readonly execution: Execution }) {
  if (errorMessage === null && errorCode === null) return null
  const code = isCode(errorCode) ? errorCode : 'INTERNAL'
  const message = errorMessage ?? `The run ended with the status ${status.toLowerCase()}.`
  return (
    <ErrorNotice
      error={new TooldexError(code, message, isCode(errorCode) ? { hint: errorTable[code].hint } : { hint: '' })}
    />
  )
}

const filtered = (name: 'caller' | 'trace', value: string | null) =>
  value && (
    <Link to="/executions" search={{ [name]: value }} className="text-accent break-all hover:underline">
      <SafeText max={200}>{value}</SafeText>
    </Link>
  )

const plain = (value: string | null | undefined) => value && <SafeText max={300}>{value}</SafeText>

function factsOf(execution: Execution): readonly Fact[] {
  const { toolId, toolName, version, parentId, toolsets, exitCode, timeoutMs, attempt } = execution
  return [
    [
      'Tool',
      <Link key="tool" to="/tools/$id" params={{ id: toolId ?? toolName }} className="text-accent hover:underline">
        <SafeText max={200}>{toolName}</SafeText>
      </Link>,
    ],
    ['Version', version],
    ['Caller', filtered('caller', execution.callerId)],
    ['Label of the caller', plain(execution.callerLabel)],
    ['Toolsets', plain(toolsets?.join(', '))],
    ['Trace', filtered('trace', execution.traceId)],
    [
      'Program',
      parentId && (
        <Link to="/executions/$id" params={{ id: parentId }} className="text-accent hover:underline">
          The run that made this call
        </Link>
      ),
    ],
    ['Isolation', execution.isolation],
    ['Suspicious result', plain(execution.suspicious?.join('; '))],
    ['Environment', plain(execution.environment)],
    ['Worker', plain(execution.worker)],
    ['Attempt', attempt === 0 ? null : attempt],
    ['Exit code', exitCode],
    ['Timeout', timeoutMs === null ? null : `${timeoutMs.toLocaleString('en')} ms`],
    ['Idempotency key', plain(execution.idempotencyKey)],
  ]
}
