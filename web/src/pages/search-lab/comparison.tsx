import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { Table } from '../../ui/table.tsx'
import { type Evaluation, explainMissing, type Outcome } from './evaluate.ts'
import type { GoldenRequest } from './parse-requests.ts'
import { labelOf, type Settings } from './settings.ts'

interface ComparisonProps {
  readonly requests: readonly GoldenRequest[]
  readonly evaluations: readonly Evaluation[]
}

const measures = [
  ['hit1', 'First result is right', '%'],
  ['recall5', 'Found among the first 5', '%'],
  ['ndcg10', 'nDCG at 10', '%'],
  ['mrr', 'Mean reciprocal rank', '%'],
  ['falseAbstention', 'Wrongly without a fitting tool', '%'],
  ['tokens', 'Tokens of an answer', ''],
  ['p50Ms', 'Median time', ' ms'],
] as const

const sides = ['A', 'B'] as const
const titleOf = (evaluations: readonly Evaluation[], at: number): string => {
  const [own, other] = [evaluations[at]?.settings ?? {}, evaluations[1 - at]?.settings ?? {}]
  return evaluations.length === 1 ? 'Result' : `${sides[at]}: ${labelOf(own, other)}`
}

/** The scores of both sides. */
export function Scores({ evaluations }: Pick<ComparisonProps, 'evaluations'>) {
  const [first, second] = evaluations
  const change = ([measure, , unit]: (typeof measures)[number]) => {
    const difference = (second?.scores[measure] ?? 0) - (first?.scores[measure] ?? 0)
    return `${difference > 0 ? '+' : ''}${difference.toFixed(1)}${unit === '%' ? '' : unit}`
  }
  return (
    <Card title="Scores" isFlush>
      <Table
        caption="Scores"
        rows={measures}
        keyOf={([measure]) => measure}
        columns={[
          { title: 'Measure', cell: ([, label]) => label },
          ...evaluations.map(({ scores }, at) => ({
            title: titleOf(evaluations, at),
            align: 'right' as const,
            cell: ([measure, , unit]: (typeof measures)[number]) => `${scores[measure].toFixed(1)}${unit}`,
          })),
          ...(second === undefined ? [] : [{ title: 'B − A', align: 'right' as const, isExtra: true, cell: change }]),
        ]}
      />
    </Card>
  )
}

interface Row {
  readonly request: GoldenRequest
  readonly outcomes: readonly Outcome[]
}

const isChanged = ({ outcomes: [first, second] }: Row): boolean =>
  first !== undefined &&
  second !== undefined &&
  (first.failure !== second.failure || first.missing.join() !== second.missing.join())
const pageSize = 20

/** The requests that fail on a side or changed between both, with the reason. */
export function Outcomes({ requests, evaluations }: ComparisonProps) {
  const [chosen, setChosen] = useState<string>()
  const [shown, setShown] = useState(pageSize)
  const rows = requests.map((request, at): Row => {
    return { request, outcomes: evaluations.flatMap(({ outcomes }) => outcomes[at] ?? []) }
  })
  const failed = (at: number) => rows.filter(({ outcomes }) => outcomes[at]?.failure !== undefined)
  const changed = rows.filter(isChanged)
  const views = [
    ...(evaluations.length === 2 ? [{ id: 'changed', label: 'Changed', rows: changed }] : []),
    ...evaluations.map((_, at) => ({
      id: `failed-${at}`,
      label: evaluations.length === 2 ? `Failed in ${sides[at]}` : 'Failed',
      rows: failed(at),
    })),
    { id: 'all', label: 'All', rows },
  ]
  const view = views.find(({ id }) => id === chosen) ?? views.find((each) => each.rows.length > 0) ?? views[0]
  return (
    <Card title="Requests" isFlush>
      <fieldset className="flex flex-wrap gap-2 border-b border-line px-4 py-3">
        <legend className="sr-only">Shown requests</legend>
        {views.map(({ id, label, rows: of }) => (
          <Button
            key={id}
            size="sm"
            aria-pressed={id === view?.id}
            className={id === view?.id ? 'border-accent! text-accent!' : ''}
            onClick={() => setChosen(id)}
          >
            {label} ({of.length})
          </Button>
        ))}
      </fieldset>
      {view?.rows.length === 0 && <p className="p-4 text-sm text-muted">No request is in this list.</p>}
      {view !== undefined && view.rows.length > 0 && (
        <Table
          caption="Requests"
          rows={view.rows.slice(0, shown)}
          keyOf={({ request: { query, tools } }) => `${query} ${tools.join()}`}
          columns={[
            {
              title: 'Request',
              className: 'min-w-40 break-words',
              cell: ({ request: { query, tools } }) => (
                <>
                  <SafeText max={200}>{query}</SafeText>
                  <span className="block text-xs text-muted">
                    expects <SafeText max={200}>{tools.join(', ')}</SafeText>
                  </span>
                </>
              ),
            },
            ...evaluations.map(({ settings }, at) => ({
              title: titleOf(evaluations, at),
              className: 'min-w-44 break-words',
              cell: ({ request, outcomes }: Row) => (
                <OutcomeCell query={request.query} outcome={outcomes[at]} settings={settings} />
              ),
            })),
          ]}
        />
      )}
      {view !== undefined && view.rows.length > shown && (
        <div className="flex justify-center border-t border-line p-3">
          <Button size="sm" onClick={() => setShown(shown + pageSize)}>
            {view.rows.length - shown} more
          </Button>
        </div>
      )}
    </Card>
  )
}

interface OutcomeCellProps {
  readonly query: string
  readonly outcome: Outcome | undefined
  readonly settings: Settings
}

const words = {
  'not-found': ['bad', 'not found'],
  abstained: ['warn', 'nothing fits'],
  'not-abstained': ['warn', 'found a tool'],
} as const

function OutcomeCell({ query, outcome, settings }: OutcomeCellProps) {
  if (outcome === undefined) return null
  const { failure, found, missing } = outcome
  const [tone, label] = failure === undefined ? (['ok', 'found'] as const) : words[failure]
  return (
    <div className="flex flex-col gap-1">
      <span>
        <Badge tone={tone}>{label}</Badge>
      </span>
      <span className="text-xs text-muted">
        {found.length === 0 ? (
          'no results'
        ) : (
          <SafeText max={300}>{found.map(({ name, score }) => `${name} ${score.toFixed(2)}`).join(', ')}</SafeText>
        )}
      </span>
      {missing.map((tool) => (
        <Why key={tool} query={query} tool={tool} settings={settings} />
      ))}
    </div>
  )
}

/** Why a tool is missing on this side. */
function Why({
  query,
  tool,
  settings,
}: {
  readonly query: string
  readonly tool: string
  readonly settings: Settings
}) {
  const { data, error } = useQuery({
    queryKey: ['why', query, tool, settings],
    queryFn: () => explainMissing(query, tool, settings),
  })
  return (
    <span className="text-xs">
      <b className="font-medium">
        <SafeText max={100}>{tool}</SafeText>
      </b>
      : {error === null ? <SafeText max={300}>{data ?? '…'}</SafeText> : 'the reason could not be read'}
    </span>
  )
}
