import type { OperationOutput } from 'tooldex/client'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { SafeText } from '../../ui/safe-text.tsx'

type Imported = OperationOutput<'bundle.import'>
type Part = Imported['plan']['categories']

const tones: Readonly<Record<string, Tone>> = { wording: 'info', compatible: 'ok', breaking: 'bad' }
const maxNames = 30
const maxWarnings = 20

/** What an import would change, or has changed. */
export function PlanView({ result: { plan, diffs, warnings, destinations } }: { readonly result: Imported }) {
  const { categories, policies, toolsets, limits, sources, ...tools } = plan
  const parts = [
    ['Tools', tools],
    ['Categories', categories],
    ['Policies', policies],
    ['Toolsets', toolsets],
    ['Limits', limits],
    ['Sources', sources],
  ] as const
  const touched = parts.filter(([, part]) => part.create.length + part.change.length + part.remove.length > 0)
  return (
    <div className="flex flex-col gap-4 text-sm">
      {touched.length === 0 && <p className="text-muted">Nothing would change: the registry has all of it already.</p>}
      {touched.map(([title, part]) => (
        <PartView key={title} title={title} part={part} />
      ))}
      {destinations.length > 0 && (
        <div>
          <p className="font-medium">Requests and secrets go to</p>
          <ul className="list-disc pl-5 break-words">
            {destinations.map(({ host, secrets, tools }) => (
              <li key={host ?? ''}>
                <SafeText max={300}>{host ?? 'commands and scripts'}</SafeText>
                <span className="text-muted">
                  {' '}
                  from {tools} {tools === 1 ? 'tool' : 'tools'}
                  {secrets.length > 0 && (
                    <>
                      , with <SafeText max={500}>{secrets.join(', ')}</SafeText>
                    </>
                  )}
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {diffs.map(({ tool, class: effect, text }) => (
        <div key={tool} className="flex flex-col gap-1">
          <p className="flex flex-wrap items-center gap-2">
            <span className="font-medium">
              <SafeText max={200}>{tool}</SafeText>
            </span>
            <Badge tone={tones[effect] ?? 'neutral'}>{effect}</Badge>
          </p>
          <CodeBlock label="Changes">{text}</CodeBlock>
        </div>
      ))}
      {warnings.length > 0 && (
        <div>
          <p className="font-medium">Warnings</p>
          <ul className="list-disc pl-5 break-words">
            {warnings.slice(0, maxWarnings).map((warning) => (
              <li key={warning}>
                <SafeText max={500}>{warning}</SafeText>
              </li>
            ))}
            {warnings.length > maxWarnings && <li>{warnings.length - maxWarnings} more</li>}
          </ul>
        </div>
      )}
    </div>
  )
}

function PartView({ title, part }: { readonly title: string; readonly part: Part }) {
  const rows = [
    ['created', 'ok', part.create],
    ['changed', 'info', part.change.map(({ name, fields }) => `${name} (${fields.join(', ')})`)],
    ['removed', 'bad', part.remove],
  ] as const
  return (
    <div className="flex flex-col gap-1">
      <p className="font-medium">
        {title} <span className="font-normal text-muted">{part.unchanged} unchanged</span>
      </p>
      {rows.map(
        ([label, tone, names]) =>
          names.length > 0 && (
            <p key={label} className="break-words">
              <Badge tone={tone}>
                {names.length} {label}
              </Badge>{' '}
              <SafeText max={4000}>{names.slice(0, maxNames).join(', ')}</SafeText>
              {names.length > maxNames && ` and ${names.length - maxNames} more`}
            </p>
          ),
      )}
    </div>
  )
}
