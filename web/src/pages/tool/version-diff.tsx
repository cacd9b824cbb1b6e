import type { OperationOutput } from 'tooldex/client'
import { Badge } from '../../ui/badge.tsx'
import { cx } from '../../ui/cx.ts'
import { SafeText } from '../../ui/safe-text.tsx'
import { sideBySide } from './side-by-side.ts'

type Diff = OperationOutput<'versions.diff'>
type Field = Diff['fields'][number]

const tones = { breaking: 'bad', compatible: 'ok', wording: 'neutral' } as const
const asText = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2)

/** The changed fields, side by side, each with its effect on callers. */
export function VersionDiff({ diff }: { readonly diff: Pick<Diff, 'fields'> }) {
  if (diff.fields.length === 0) return <p className="text-sm text-muted">Nothing differs.</p>
  return (
    <div className="flex flex-col gap-5">
      {diff.fields.map((field) => (
        <FieldDiff key={field.field} field={field} />
      ))}
    </div>
  )
}

const maxChanges = 50

/** A change that is found in two ways is listed once. */
const withoutRepeats = (changes: NonNullable<Field['changes']>) =>
  [...new Map(changes.map((change) => [`${change.pointer} ${change.message}`, change])).values()].slice(0, maxChanges)

function FieldDiff({ field }: { readonly field: Field }) {
  const rows = sideBySide(asText(field.before), asText(field.after))
  return (
    <section className="min-w-0">
      <h3 className="mb-1.5 flex items-center gap-2 text-sm font-medium">
        <code className="font-mono text-xs">{field.field}</code>
        <Badge tone={tones[field.class]}>{field.class}</Badge>
      </h3>
      {(field.changes ?? []).length > 0 && (
        <ul className="mb-1.5 list-disc pl-5 text-xs break-words text-muted">
          {withoutRepeats(field.changes ?? []).map(({ pointer, message }) => (
            <li key={`${pointer} ${message}`}>
              <SafeText max={300}>{message}</SafeText>
            </li>
          ))}
        </ul>
      )}
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={`Changes of ${field.field}`}
        className="max-h-96 overflow-auto rounded-md border border-line"
      >
        <table className="w-full table-fixed border-collapse font-mono text-xs">
          <thead className="sr-only">
            <tr>
              <th scope="col">before</th>
              <th scope="col">after</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.key} className="align-top">
                <Cell text={row.before} className={row.isChanged && row.before !== undefined ? 'bg-bad-soft' : ''} />
                <Cell text={row.after} className={row.isChanged && row.after !== undefined ? 'bg-ok-soft' : ''} />
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  )
}

function Cell({ text, className }: { readonly text: string | undefined; readonly className: string }) {
  return (
    <td className={cx('border-line px-2 py-px break-words whitespace-pre-wrap first:border-r', className)}>
      <SafeText max={2000}>{text ?? ''}</SafeText>
    </td>
  )
}
