import { useQuery } from '@tanstack/react-query'
import type { Problem } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { Field, Select, TextArea } from '../../ui/field.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { executorTypes, type ToolForm } from './tool-form.ts'

interface BasicFieldsProps {
  readonly form: ToolForm
  readonly problemsOf: (field: keyof ToolForm) => readonly Problem[]
  readonly set: (change: Partial<ToolForm>) => void
}

/** Name, texts, category, tags and kind of a tool. */
export function BasicFields({ form, problemsOf, set }: BasicFieldsProps) {
  const { data: categories } = useQuery({
    queryKey: ['categories', 'list'],
    queryFn: () => api.categories.list(),
  })
  const known = categories?.items ?? []
  const isListed = form.categoryId === '' || known.some(({ id }) => id === form.categoryId)
  const bind = (field: keyof ToolForm) => {
    const text = problemsOf(field)
      .map(({ message, hint }) => (hint === undefined ? message : `${message}. ${hint}`))
      .join(' ')
    return {
      value: form[field],
      onChange: ({ target }: { readonly target: { readonly value: string } }) => set({ [field]: target.value }),
      ...(text === '' ? {} : { error: <SafeText max={500}>{text}</SafeText> }),
    }
  }
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field
        label="Name"
        autoComplete="off"
        placeholder="send_report"
        hint="The name in calls: lower case, digits, underscores."
        {...bind('name')}
      />
      <Field
        label="Display name"
        autoComplete="off"
        placeholder="Send report"
        hint="The name that people read."
        {...bind('displayName')}
      />
      <div className="sm:col-span-2">
        <TextArea
          label="Description"
          rows={4}
          hint="What it does and when to use it: agents choose by this text."
          {...bind('description')}
        />
      </div>
      <Select label="Category" {...bind('categoryId')}>
        <option value="">none</option>
        {!isListed && <option value={form.categoryId}>the current one</option>}
        {known.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Select>
      <Field label="Tags" autoComplete="off" placeholder="mail, reports" {...bind('tags')} />
      <Select label="Executor" {...bind('executorType')}>
        {executorTypes.map((type) => (
          <option key={type}>{type}</option>
        ))}
      </Select>
    </div>
  )
}
