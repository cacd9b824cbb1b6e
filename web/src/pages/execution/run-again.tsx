import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { Checkbox, TextArea } from '../../ui/field.tsx'
import { JsonView } from '../../ui/json-view.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import type { Execution } from './use-execution.ts'

/** Runs a tool again with a recorded input, which can be changed first. */
export function RunAgain({ execution }: { readonly execution: Execution }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button size="sm" icon={<RotateCcw className="size-3.5" aria-hidden />} onClick={() => setOpen(true)}>
        Run again
      </Button>
      {isOpen && <RunDialog execution={execution} onClose={() => setOpen(false)} />}
    </>
  )
}

interface RunDialogProps {
  readonly execution: Execution
  readonly onClose: () => void
}

function RunDialog({ execution, onClose }: RunDialogProps) {
  const { toolName, version, inputData } = execution
  const navigate = useNavigate()
  const [text, setText] = useState(() => JSON.stringify(inputData ?? {}, null, 2))
  const [isSameVersion, setSameVersion] = useState(false)
  const input = parseObject(text)
  const run = useMutation({
    mutationFn: (dryRun: boolean) =>
      api.tools.execute({
        idOrName: toolName,
        input: input ?? {},
        ...(isSameVersion && version !== null ? { version } : {}),
        ...(dryRun ? { dryRun } : {}),
      }),
    onSuccess: (result) => {
      if ('plan' in result) return
      onClose()
      void navigate({ to: '/executions/$id', params: { id: result.id } })
    },
  })
  return (
    <Dialog
      title={
        <>
          Run <SafeText max={120}>{toolName}</SafeText> again
        </>
      }
      description="A new execution is recorded; policies and limits apply as they are now."
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button disabled={input === undefined} isBusy={run.isPending} onClick={() => run.mutate(true)}>
            Dry run
          </Button>
          <Button
            tone="primary"
            disabled={input === undefined}
            isBusy={run.isPending}
            onClick={() => run.mutate(false)}
          >
            Run
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <TextArea
          label="Input"
          rows={8}
          spellCheck={false}
          className="font-mono text-xs"
          value={text}
          onChange={({ target }) => setText(target.value)}
          {...(input === undefined ? { error: 'not a JSON object' } : {})}
        />
        {version !== null && (
          <Checkbox
            label={`Run version ${version}, as then`}
            hint="Otherwise the latest version runs."
            checked={isSameVersion}
            onChange={({ target }) => setSameVersion(target.checked)}
          />
        )}
        {run.error !== null && <ErrorNotice error={run.error} />}
        {run.data !== undefined && 'plan' in run.data && (
          <JsonView label={run.data.needsApproval ? 'Plan; the call needs approval' : 'Plan'} value={run.data.plan} />
        )}
      </div>
    </Dialog>
  )
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
