import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useCaller } from '../../api/session.ts'
import { Field, Select } from '../../ui/field.tsx'
import { executors, findSettingProblem, modes, type SettingName, type Settings } from './settings.ts'

interface SideFormProps {
  readonly name: string
  readonly settings: Settings
  readonly onChange: (settings: Settings) => void
}

/** The settings of one side of a comparison. */
export function SideForm({ name, settings, onChange }: SideFormProps) {
  const set = (setting: SettingName) => ({
    value: settings[setting] ?? '',
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      onChange({ ...settings, [setting]: target.value }),
  })
  const isAdmin = useCaller().data?.scopes.includes('admin') === true
  const toolsets = useQuery({ queryKey: ['toolsets'], queryFn: () => api.toolsets.list(), enabled: isAdmin })
  const problem = findSettingProblem(settings)
  return (
    <fieldset className="min-w-0 rounded-md border border-line p-3">
      <legend className="px-1 text-sm font-semibold">Side {name}</legend>
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-3">
        <Select label="Ranking" {...set('mode')}>
          <option value="">hybrid</option>
          {modes.slice(1).map((mode) => (
            <option key={mode}>{mode}</option>
          ))}
        </Select>
        <Field label="Minimum score" inputMode="decimal" placeholder="0" {...set('minScore')} />
        <Field label="Fit threshold" inputMode="decimal" placeholder="default" {...set('minFit')} />
        <Field label="Limit" inputMode="numeric" placeholder="10" {...set('limit')} />
        <Select label="Executor" {...set('executor')}>
          <option value="">all</option>
          {executors.map((kind) => (
            <option key={kind}>{kind}</option>
          ))}
        </Select>
        {toolsets.data !== undefined && toolsets.data.items.length > 0 ? (
          <Select label="Toolset" {...set('toolset')}>
            <option value="">none</option>
            {toolsets.data.items.map((each) => (
              <option key={each.name}>{each.name}</option>
            ))}
          </Select>
        ) : (
          <Field label="Toolset" placeholder="none" {...set('toolset')} />
        )}
        <Field label="Namespace" placeholder="all" {...set('namespace')} />
        <Field label="Category" placeholder="all" {...set('category')} />
        <Field label="Tag" placeholder="all" {...set('tag')} />
      </div>
      {problem !== undefined && (
        <p role="alert" className="mt-2 text-xs text-bad">
          {problem}
        </p>
      )}
    </fieldset>
  )
}
