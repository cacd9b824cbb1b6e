import { useMutation, useQueryClient } from '@tanstack/react-query'
import { BookmarkPlus, FlaskConical, Play, Square } from 'lucide-react'
import { useState } from 'react'
import type { OperationOutput } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { useCaller } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeArea } from '../../ui/code-area.tsx'
import { Select } from '../../ui/field.tsx'
import { showToast } from '../../ui/toast.tsx'
import { CopyCall } from './copy-call.tsx'
import { FormFields } from './form-fields.tsx'
import { type FormSchema, type FormValues, fieldsOf, fitsForm, toInput, toValues } from './form-values.ts'
import { RunPanel } from './run-panel.tsx'
import { useInputCheck } from './use-input-check.ts'
import { useRun } from './use-run.ts'

type Doc = OperationOutput<'tools.doc'>
type Registered = OperationOutput<'registry.get'>
type Input = Readonly<Record<string, unknown>>

interface TryItProps {
  readonly doc: Doc
  readonly registered: Registered | undefined
}

/** Calls a tool from a form or from JSON. */
export function TryIt({ doc, registered }: TryItProps) {
  const fields = fieldsOf((doc.tool?.inputSchema ?? {}) as FormSchema)
  const [values, setValues] = useState<FormValues>({})
  const [json, setJson] = useState<string>()
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({})
  const { state, plan, start, cancel } = useRun()
  const isRunning = state.phase === 'starting' || state.phase === 'running'
  const scopes = useCaller().data?.scopes
  const mayCall = scopes?.includes('call') === true
  const problems = useInputCheck(doc.id, json, mayCall)

  const show = (input: Input) => {
    setErrors({})
    setValues(toValues(fields, input))
    setJson(fitsForm(fields, input) && json === undefined ? undefined : JSON.stringify(input, null, 2))
  }
  /** The input, or undefined with the reasons shown at the fields. */
  const read = (): Input | undefined => {
    const found = json === undefined ? toInput(fields, values) : readJson(json)
    setErrors(found.errors)
    return Object.keys(found.errors).length === 0 ? found.input : undefined
  }
  const run = (action: typeof start) => {
    const input = read()
    if (input !== undefined) void action({ idOrName: doc.id, input })
  }
  const toggle = () => {
    if (json === undefined) return setJson(JSON.stringify(toInput(fields, values).input, null, 2))
    const { input, errors: found } = readJson(json)
    setErrors(found)
    if (Object.keys(found).length > 0) return
    setValues(toValues(fields, input))
    setJson(undefined)
  }
  const running = state.execution
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Card
        title="Arguments"
        actions={
          <Button size="sm" tone="quiet" onClick={toggle}>
            {json === undefined ? 'Edit as JSON' : 'Edit as form'}
          </Button>
        }
      >
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault()
            run(start)
          }}
        >
          <Examples doc={doc} onChoose={show} />
          {json === undefined ? (
            <FormFields fields={fields} values={values} errors={errors} onChange={setValues} />
          ) : (
            <CodeArea
              label="Arguments as JSON"
              language="json"
              rows={12}
              value={json}
              problems={problems}
              onChange={setJson}
            />
          )}
          <div className="flex flex-wrap gap-2">
            <Button
              type="submit"
              tone="primary"
              disabled={isRunning || !mayCall}
              icon={<Play className="size-3.5" aria-hidden />}
            >
              Run
            </Button>
            <Button
              disabled={isRunning || !mayCall}
              icon={<FlaskConical className="size-3.5" aria-hidden />}
              onClick={() => run(plan)}
            >
              Dry run
            </Button>
            {state.phase === 'running' && running !== undefined && (
              <Button
                tone="danger"
                icon={<Square className="size-3.5" aria-hidden />}
                onClick={() => void cancel(running.id)}
              >
                Cancel
              </Button>
            )}
            {registered !== undefined && scopes?.includes('write') !== false && (
              <SaveExample tool={registered} read={read} />
            )}
          </div>
          {scopes !== undefined && !mayCall && (
            <p className="text-xs text-muted">Calling a tool needs a key with the scope call.</p>
          )}
        </form>
        <CopyCall tool={doc.id} input={json === undefined ? toInput(fields, values).input : readJson(json).input} />
      </Card>
      <RunPanel state={state} />
    </div>
  )
}

function readJson(text: string): { input: Input; errors: Readonly<Record<string, string>> } {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { input: value as Input, errors: {} }
  } catch {
    // Reported below.
  }
  return { input: {}, errors: { json: 'This is not a JSON object.' } }
}

function Examples({ doc, onChoose }: { readonly doc: Doc; readonly onChoose: (input: Input) => void }) {
  const examples = (doc.examples ?? []).filter(({ args }) => args !== undefined)
  if (examples.length === 0) return null
  return (
    <Select label="Example" value="" onChange={(event) => onChoose(examples[Number(event.target.value)]?.args ?? {})}>
      <option value="">Choose an example</option>
      {examples.map(({ title, description }, index) => (
        <option key={`${title} ${description}`} value={index}>
          {(title ?? description).slice(0, 100)}
        </option>
      ))}
    </Select>
  )
}

interface SaveExampleProps {
  readonly tool: Registered
  readonly read: () => Input | undefined
}

/** Adds the arguments to the examples of the tool, as its next version. */
function SaveExample({ tool, read }: SaveExampleProps) {
  const queries = useQueryClient()
  const save = useMutation({
    mutationFn: (args: Input) =>
      api.tools.change({
        idOrName: tool.id,
        expectedVersion: tool.version,
        changelog: 'add an example',
        examples: [...tool.examples, { description: `Example ${tool.examples.length + 1}`, args: { ...args } }],
      }),
    onSuccess: ({ version }) => {
      showToast(`Saved as an example in version ${version}.`)
      void queries.invalidateQueries()
    },
    onError: (error) => showToast(error.message, { isError: true }),
  })
  const onClick = () => {
    const input = read()
    if (input !== undefined) save.mutate(input)
  }
  return (
    <Button
      tone="quiet"
      isBusy={save.isPending}
      icon={<BookmarkPlus className="size-3.5" aria-hidden />}
      onClick={onClick}
    >
      Save as example
    </Button>
  )
}
