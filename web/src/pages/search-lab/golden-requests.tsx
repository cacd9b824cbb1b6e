import { useMutation } from '@tanstack/react-query'
import { FileUp, History, Play } from 'lucide-react'
import { useRef, useState } from 'react'
import { useCaller } from '../../api/session.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { Select, TextArea } from '../../ui/field.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toast.tsx'
import { addLines, readEvalSet } from './collect-requests.ts'
import { type Evaluation, evaluate, type Mode, modes } from './evaluate.ts'
import { mineRequests } from './mine-requests.ts'
import { maxRequests, parseRequests } from './parse-requests.ts'

const slot = 'tooldex-golden-requests'
const isMode = (text: string): text is Mode => modes.some((mode) => mode === text)

/** Requests with known tools, evaluated in two modes of search. */
export function GoldenRequests() {
  const [text, setText] = useState(() => localStorage.getItem(slot) ?? '')
  const [first, setFirst] = useState<Mode>('hybrid')
  const [second, setSecond] = useState<Mode>('bm25')
  const { requests, wrongLines } = parseRequests(text)
  const run = useMutation({ mutationFn: () => evaluate(requests, first === second ? [first] : [first, second]) })
  const change = (next: string) => {
    setText(next)
    localStorage.setItem(slot, next)
  }
  const fault =
    requests.length > maxRequests
      ? `at most ${maxRequests} requests`
      : wrongLines.length > 0
        ? `no request and tool in line ${wrongLines.slice(0, 5).join(', ')}`
        : undefined
  return (
    <div className="flex flex-col gap-5">
      <Card title="Golden requests">
        <div className="flex flex-col gap-3">
          <TextArea
            label="Requests"
            rows={8}
            className="font-mono text-xs!"
            placeholder={'count the words of a text => text_statistics\nwhen is the next holiday => public_holidays'}
            value={text}
            onChange={({ target }) => change(target.value)}
            hint="One per line: the words of a user, =>, and the tools that should be found. Kept in this browser."
            {...(fault === undefined ? {} : { error: fault })}
          />
          <Collect text={text} onChange={change} />
          <div className="flex flex-wrap items-end gap-3">
            <ModeSelect label="Mode A" value={first} onChange={setFirst} />
            <ModeSelect label="Mode B" value={second} onChange={setSecond} />
            <Button
              tone="primary"
              icon={<Play className="size-4" aria-hidden />}
              disabled={requests.length === 0 || fault !== undefined}
              isBusy={run.isPending}
              onClick={() => run.mutate()}
            >
              Evaluate {requests.length > 0 && requests.length}
            </Button>
          </div>
          {run.error !== null && <ErrorNotice error={run.error} />}
        </div>
      </Card>
      {run.data !== undefined && <Comparison evaluations={run.data} />}
      {run.data?.map((evaluation) => (
        <Misses key={evaluation.mode} evaluation={evaluation} />
      ))}
    </div>
  )
}

interface CollectProps {
  readonly text: string
  readonly onChange: (text: string) => void
}

/** Adds requests from past calls, or from the file of an evaluation set. */
function Collect({ text, onChange }: CollectProps) {
  const file = useRef<HTMLInputElement>(null)
  const isAdmin = useCaller().data?.scopes.includes('admin') === true
  const add = useMutation({
    mutationFn: async (source: File | undefined) =>
      source === undefined ? mineRequests() : readEvalSet(await source.text()),
    onSuccess: (requests) => {
      onChange(addLines(text, requests))
      showToast(requests.length === 1 ? 'Added 1 request.' : `Added ${requests.length} requests.`)
    },
  })
  return (
    <div className="flex flex-wrap items-center gap-2">
      {isAdmin && (
        <Button
          size="sm"
          icon={<History className="size-3.5" aria-hidden />}
          isBusy={add.isPending}
          onClick={() => add.mutate(undefined)}
        >
          Add from past calls
        </Button>
      )}
      <Button size="sm" icon={<FileUp className="size-3.5" aria-hidden />} onClick={() => file.current?.click()}>
        Add a queries.jsonl
      </Button>
      <input
        ref={file}
        type="file"
        hidden
        accept=".jsonl,.json"
        onChange={({ target }) => {
          const [chosen] = target.files ?? []
          if (chosen !== undefined) add.mutate(chosen)
          target.value = ''
        }}
      />
      {add.error !== null && <ErrorNotice error={add.error} />}
    </div>
  )
}

interface ModeSelectProps {
  readonly label: string
  readonly value: Mode
  readonly onChange: (mode: Mode) => void
}

function ModeSelect({ label, value, onChange }: ModeSelectProps) {
  return (
    <Select label={label} value={value} onChange={({ target }) => isMode(target.value) && onChange(target.value)}>
      {modes.map((mode) => (
        <option key={mode}>{mode}</option>
      ))}
    </Select>
  )
}

const measures = [
  ['hit1', 'First result is right', '%'],
  ['recall5', 'Found among the first 5', '%'],
  ['ndcg10', 'nDCG at 10', '%'],
  ['mrr', 'Mean reciprocal rank', '%'],
  ['p50Ms', 'Median time', ' ms'],
] as const

function Comparison({ evaluations }: { readonly evaluations: readonly Evaluation[] }) {
  return (
    <Card title="Scores" isFlush>
      <Table
        caption="Scores"
        rows={measures}
        keyOf={([measure]) => measure}
        columns={[
          { title: 'Measure', cell: ([, label]) => label },
          ...evaluations.map(({ mode, scores }) => ({
            title: mode,
            align: 'right' as const,
            cell: ([measure, , unit]: (typeof measures)[number]) => `${scores[measure].toFixed(1)}${unit}`,
          })),
        ]}
      />
    </Card>
  )
}

function Misses({ evaluation: { mode, misses, warnings } }: { readonly evaluation: Evaluation }) {
  return (
    <Card title={`Failures of ${mode} (${misses.length})`} isFlush>
      {warnings.length > 0 && (
        <p className="px-4 pt-3 text-sm text-warn">
          <SafeText max={500}>{warnings.join(' ')}</SafeText>
        </p>
      )}
      {misses.length === 0 ? (
        <p className="p-4 text-sm text-muted">All tools are among the first five results.</p>
      ) : (
        <Table
          caption={`Failures of ${mode}`}
          rows={misses}
          keyOf={({ query }) => query}
          columns={[
            { title: 'Request', cell: ({ query }) => <SafeText max={200}>{query}</SafeText> },
            {
              title: 'Expected',
              className: 'break-words',
              cell: ({ expected }) => <SafeText max={300}>{expected.join(', ')}</SafeText>,
            },
            {
              title: 'Found instead',
              className: 'break-words',
              cell: ({ found, fit }) => (
                <>
                  <SafeText max={300}>{found.join(', ') || 'nothing'}</SafeText>{' '}
                  {fit === 'none' && <Badge tone="warn">nothing fits</Badge>}
                </>
              ),
            },
          ]}
        />
      )}
    </Card>
  )
}
