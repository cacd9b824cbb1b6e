import { useMutation } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { FileUp, History, Play } from 'lucide-react'
import { useRef, useState } from 'react'
import { useCaller } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { TextArea } from '../../ui/field.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { showToast } from '../../ui/toast.tsx'
import { addLines, readEvalSet } from './collect-requests.ts'
import { Outcomes, Scores } from './comparison.tsx'
import { evaluate } from './evaluate.ts'
import { mineRequests } from './mine-requests.ts'
import { maxRequests, parseRequests } from './parse-requests.ts'
import { findSettingProblem, readSettings, type Settings, writeSettings } from './settings.ts'
import { SideForm } from './side-form.tsx'

const slot = 'tooldex-golden-requests'

/** Requests with known tools, evaluated with two settings of search. */
export function GoldenRequests() {
  const [text, setText] = useState(() => localStorage.getItem(slot) ?? '')
  const search = useSearch({ strict: false }) as Readonly<Record<string, string>>
  const navigate = useNavigate()
  // Kept here, so that typing never waits for the URL.
  const [sides, setSides] = useState({ a: readSettings(search.a ?? ''), b: readSettings(search.b ?? 'mode=bm25') })
  const { a: first, b: second } = sides
  const set = (side: 'a' | 'b', settings: Settings) => {
    // An emptied field is the default again.
    setSides({ ...sides, [side]: readSettings(writeSettings(settings)) })
    // A side without settings is kept as such: an absent one has the default of the page.
    void navigate({
      to: '/search-lab',
      search: { ...search, [side]: writeSettings(settings) || 'default' },
      replace: true,
      resetScroll: false,
    })
  }
  const { requests, wrongLines } = parseRequests(text)
  const run = useMutation({
    mutationFn: async () => {
      const isSame = writeSettings(first) === writeSettings(second)
      return { requests, evaluations: await evaluate(requests, isSame ? [first] : [first, second]) }
    },
  })
  const isWrong = [first, second].some((side) => findSettingProblem(side) !== undefined)
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
          <div className="grid gap-3 xl:grid-cols-2">
            <SideForm name="A" settings={first} onChange={(settings) => set('a', settings)} />
            <SideForm name="B" settings={second} onChange={(settings) => set('b', settings)} />
          </div>
          <div>
            <Button
              tone="primary"
              icon={<Play className="size-4" aria-hidden />}
              disabled={requests.length === 0 || fault !== undefined || isWrong}
              isBusy={run.isPending}
              onClick={() => run.mutate()}
            >
              Evaluate {requests.length > 0 && requests.length}
            </Button>
          </div>
          {run.error !== null && <ErrorNotice error={run.error} />}
        </div>
      </Card>
      {run.data?.evaluations.map(({ warnings }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the sides have no other identity
        <Warnings key={at} warnings={warnings} />
      ))}
      {run.data !== undefined && <Scores evaluations={run.data.evaluations} />}
      {run.data !== undefined && <Outcomes {...run.data} />}
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

function Warnings({ warnings }: { readonly warnings: readonly string[] }) {
  if (warnings.length === 0) return null
  return (
    <p className="text-sm text-warn">
      <SafeText max={500}>{warnings.join(' ')}</SafeText>
    </p>
  )
}
