import { Field, Select, TextArea } from '../../ui/field.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { type FormField, type FormValues, textOf } from './form-values.ts'

interface FormFieldsProps {
  readonly fields: readonly FormField[]
  readonly values: FormValues
  readonly errors: Readonly<Record<string, string>>
  readonly onChange: (values: FormValues) => void
}

/** The fields of an input schema. */
export function FormFields({ fields, values, errors, onChange }: FormFieldsProps) {
  if (fields.length === 0) return <p className="text-sm text-muted">This tool takes no arguments.</p>
  return (
    <div className="flex flex-col gap-4">
      {fields.map((field) => (
        <InputField
          key={field.name}
          field={field}
          value={values[field.name]}
          error={errors[field.name]}
          onChange={(text) => onChange({ ...values, [field.name]: text })}
        />
      ))}
    </div>
  )
}

interface InputFieldProps {
  readonly field: FormField
  readonly value: string | undefined
  readonly error: string | undefined
  readonly onChange: (text: string) => void
}

function InputField({ field, value = '', error, onChange }: InputFieldProps) {
  const { name, kind, schema, isRequired } = field
  const label = (
    <>
      <code className="font-mono text-xs">
        <SafeText max={100}>{name}</SafeText>
      </code>
      {isRequired && <span className="ml-1 text-xs font-normal text-muted">required</span>}
    </>
  )
  const hint = schema.description === undefined ? undefined : <SafeText max={500}>{schema.description}</SafeText>
  const common = { label, hint, ...(error === undefined ? {} : { error }), value }
  const placeholder = schema.default === undefined ? '' : `default: ${textOf(schema.default).slice(0, 60)}`
  if (kind === 'choice' || kind === 'boolean')
    return (
      <Select {...common} onChange={(event) => onChange(event.target.value)}>
        <option value="">{placeholder === '' ? 'not set' : placeholder}</option>
        {(kind === 'boolean' ? ['true', 'false'] : (schema.enum ?? []).map(textOf)).map((option) => (
          <option key={option} value={option}>
            {option.slice(0, 100)}
          </option>
        ))}
      </Select>
    )
  if (kind === 'json')
    return (
      <TextArea
        {...common}
        rows={3}
        className="font-mono text-xs"
        spellCheck={false}
        placeholder={placeholder === '' ? 'JSON' : placeholder}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  if (kind === 'text' && (schema.maxLength === undefined || schema.maxLength > 200) && schema.format === undefined)
    return (
      <TextArea
        {...common}
        rows={1}
        className="field-sizing-content max-h-64"
        placeholder={placeholder}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  return (
    <Field
      {...common}
      inputMode={kind === 'text' ? 'text' : 'decimal'}
      autoComplete="off"
      placeholder={placeholder}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
