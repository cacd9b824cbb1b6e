import type { OperationOutput } from 'tooldex/client'
import { SafeText } from '../../ui/safe-text.tsx'

type Explanation = NonNullable<NonNullable<OperationOutput<'tools.search'>['results']>[number]['explanation']>

const signals = [
  ['bm25', 'words'],
  ['embedding', 'meaning'],
  ['nameCoverage', 'name'],
  ['learned', 'past calls'],
] as const
const maxTerms = 8

/** Why a tool has its rank: the share of each signal, and the words that matched. */
export function RankReason({ explanation }: { readonly explanation: Explanation }) {
  const { terms, formula, readAs, signals: values } = explanation
  return (
    <div className="mt-1 flex flex-col gap-0.5 rounded-md bg-sunken px-2 py-1.5 text-xs text-muted">
      {readAs !== undefined && (
        <p>
          read as “<SafeText max={100}>{readAs}</SafeText>”
        </p>
      )}
      <p className="flex flex-wrap gap-x-3">
        {values.exactName && <span className="font-medium text-ok">exact name</span>}
        {signals.map(([name, label]) => (
          <span key={name} className="tabular-nums">
            {label} {values[name].toFixed(2)}
          </span>
        ))}
      </p>
      {terms.length > 0 && (
        <p className="break-words">
          {terms.slice(0, maxTerms).map(({ term, fields, score }) => (
            <span key={term} className="mr-2">
              <b className="font-medium text-text">
                <SafeText max={40}>{term}</SafeText>
              </b>{' '}
              in {fields.join(', ')} ({score.toFixed(1)})
            </span>
          ))}
        </p>
      )}
      <p className="font-mono break-words">
        <SafeText max={200}>{formula}</SafeText>
      </p>
    </div>
  )
}
