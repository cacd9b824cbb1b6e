import { type ReactNode, useState } from 'react'
import type { OperationOutput, Problem } from 'tooldex/client'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeArea } from '../../ui/code-area.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { Page } from '../../ui/page.tsx'
import { ProblemList } from '../../ui/problem-list.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { Time } from '../../ui/time.tsx'
import { BasicFields } from './basic-fields.tsx'
import { fieldOf, locateProblems } from './locate-problems.ts'
import { SaveDialog } from './save-dialog.tsx'
import { SchemaEditor } from './schema-editor.tsx'
import type { ToolForm } from './tool-form.ts'
import { useCheck } from './use-check.ts'
import { useDraft } from './use-draft.ts'

type Registered = OperationOutput<'registry.get'>

interface ToolEditorProps {
  /** Undefined for a new tool. */
  readonly tool: Registered | undefined
  /** The caller, whose drafts others are not offered. */
  readonly owner: string
}

/** The form of a tool, validated by the server while it is edited. */
export function ToolEditor({ tool, owner }: ToolEditorProps) {
  const draft = useDraft(tool, owner)
  const { form, start, base, set } = draft
  const check = useCheck(form, base, start)
  const [isReviewing, setReviewing] = useState(false)
  const title = tool === undefined ? 'New tool' : `Edit ${tool.name.slice(0, 100)}`
  // Fields of a new tool that nobody has filled in yet are no mistake.
  const shown = check.problems.filter(({ pointer }) => {
    const field = fieldOf(pointer) as keyof ToolForm
    return tool !== undefined || !(field in form) || form[field] !== start[field]
  })
  const problemsOf = (field: keyof ToolForm) => locateProblems(shown, field, form)
  const elsewhere = shown.filter(({ pointer }) => !(fieldOf(pointer) in form))
  const isPython = form.executorType === 'python'
  return (
    <Page
      title={title}
      description={
        base === undefined
          ? 'It is registered as a draft, which agents are not offered before it is activated.'
          : `Based on version ${base.version}. Callers get the next version with their next call.`
      }
    >
      {draft.restoredAt !== undefined && (
        <Notice action="Discard the draft" onAction={draft.discard}>
          Restored the draft of <Time value={draft.restoredAt} /> from this browser.
        </Notice>
      )}
      {draft.isTooLarge && (
        <Notice>This draft is too large to be kept in this browser. Save it before you leave.</Notice>
      )}
      {check.error !== null && <ErrorNotice error={check.error} />}
      <ProblemList problems={elsewhere} />
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-5">
          <Card title="Description">
            <BasicFields form={form} problemsOf={problemsOf} set={set} />
          </Card>
          <Card title="Arguments">
            <SchemaEditor
              text={form.inputSchema}
              problems={problemsOf('inputSchema')}
              onChange={(inputSchema) => set({ inputSchema })}
            />
          </Card>
        </div>
        <Card title="Executor">
          <div className="flex flex-col gap-4">
            {(isPython || form.scriptContent !== '') && (
              <CodeArea
                label={isPython ? 'Script (Python)' : 'Script'}
                language={isPython ? 'python' : 'text'}
                rows={20}
                value={form.scriptContent}
                problems={problemsOf('scriptContent')}
                onChange={(scriptContent) => set({ scriptContent })}
              />
            )}
            <CodeArea
              label="Executor config (JSON)"
              language="json"
              rows={8}
              value={form.executorConfig}
              problems={problemsOf('executorConfig')}
              onChange={(executorConfig) => set({ executorConfig })}
            />
          </div>
        </Card>
      </div>
      <footer className="sticky bottom-0 -mx-1 flex flex-wrap items-center justify-between gap-3 rounded-lg border border-line bg-raised px-4 py-3 shadow-float">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <CheckState check={check} isEdited={draft.isEdited} />
          {draft.isEdited && draft.isStored && <span className="text-xs text-muted">Draft stored in this browser</span>}
        </div>
        <div className="flex gap-2">
          {draft.isEdited && <Button onClick={draft.discard}>Discard</Button>}
          <Button
            tone="primary"
            disabled={!draft.isEdited || !check.isChecked || !canSave(check)}
            onClick={() => setReviewing(true)}
          >
            Review and save
          </Button>
        </div>
      </footer>
      {isReviewing && <SaveDialog draft={draft} check={check} onClose={() => setReviewing(false)} />}
    </Page>
  )
}

type Check = ReturnType<typeof useCheck>

const isError = ({ severity }: Problem) => severity === 'error'
const canSave = ({ problems, diff, error }: Check) =>
  error === null && !problems.some(isError) && (diff === undefined || diff.class !== 'none')

/** One line about the form as the server sees it. */
function CheckState({ check, isEdited }: { readonly check: Check; readonly isEdited: boolean }) {
  const errors = check.problems.filter(isError)
  const fields = [...new Set(errors.map(({ pointer }) => fieldOf(pointer)))].filter((field) => field !== '')
  return (
    <p role="status" className="flex min-w-0 flex-wrap items-center gap-2 text-sm break-words">
      {!isEdited && <span className="text-muted">Nothing is changed yet.</span>}
      {isEdited && !check.isChecked && <span className="text-muted">Validating</span>}
      {isEdited && check.isChecked && errors.length > 0 && (
        <span className="text-bad">
          {errors.length} {errors.length === 1 ? 'error' : 'errors'}
          {fields.length > 0 && (
            <>
              {' in '}
              <SafeText max={200}>{fields.join(', ')}</SafeText>
            </>
          )}
        </span>
      )}
      {isEdited && check.isChecked && errors.length === 0 && check.diff === undefined && <span>Valid</span>}
      {isEdited && check.isChecked && errors.length === 0 && check.diff !== undefined && (
        <ChangeBadge effect={check.diff.class} />
      )}
    </p>
  )
}

const effects = {
  none: ['neutral', 'no difference'],
  wording: ['info', 'changes wording only'],
  compatible: ['ok', 'compatible change'],
  breaking: ['bad', 'breaking change'],
} as const

function ChangeBadge({ effect }: { readonly effect: keyof typeof effects }) {
  const [tone, text] = effects[effect]
  return <Badge tone={tone}>{text}</Badge>
}

interface NoticeProps {
  readonly children: ReactNode
  readonly action?: string
  readonly onAction?: () => void
}

function Notice({ children, action, onAction }: NoticeProps) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 rounded-lg border border-line bg-info-soft p-3 text-sm text-info">
      <p>{children}</p>
      {action !== undefined && (
        <Button size="sm" onClick={onAction}>
          {action}
        </Button>
      )}
    </div>
  )
}
