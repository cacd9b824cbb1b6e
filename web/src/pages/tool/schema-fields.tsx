import { Badge } from '../../ui/badge.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { type FormSchema, textOf } from '../try/form-values.ts'

interface SchemaFieldsProps {
  readonly schema: FormSchema
  readonly depth?: number
}

const maxDepth = 4
const maxFields = 200

/** A schema as readable fields: name, type, bounds, description. */
export function SchemaFields({ schema, depth = 0 }: SchemaFieldsProps) {
  const properties = Object.entries(schema.properties ?? {})
  if (properties.length === 0) return <p className="p-4 text-sm text-muted">No fields are declared.</p>
  return (
    <ul className={depth === 0 ? 'divide-y divide-line' : 'ml-3 border-l border-line'}>
      {properties.slice(0, maxFields).map(([name, property]) => (
        <li key={name} className="px-4 py-2.5">
          <div className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5">
            <code className="font-mono text-xs font-semibold break-all">
              <SafeText max={120}>{name}</SafeText>
            </code>
            <span className="text-xs text-info">
              <SafeText max={120}>{typeOf(property)}</SafeText>
            </span>
            {schema.required?.includes(name) === true && <Badge tone="warn">required</Badge>}
            <span className="text-xs text-muted">
              <SafeText max={200}>{boundsOf(property).join(', ')}</SafeText>
            </span>
          </div>
          {property.description !== undefined && (
            <p className="mt-0.5 text-sm break-words text-muted">
              <SafeText max={1000}>{property.description}</SafeText>
            </p>
          )}
          {depth < maxDepth && nestedOf(property) !== undefined && (
            <SchemaFields schema={nestedOf(property) ?? {}} depth={depth + 1} />
          )}
        </li>
      ))}
    </ul>
  )
}

const nestedOf = (property: FormSchema): FormSchema | undefined => {
  const object = property.properties === undefined ? property.items : property
  return object?.properties === undefined ? undefined : object
}

function typeOf({ type, items, enum: values }: FormSchema): string {
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ')
  const own = [type ?? 'any'].flat().join(' | ')
  return items === undefined ? own : `${own} of ${typeOf(items)}`
}

function boundsOf({ minimum, maximum, maxLength, format, default: fallback }: FormSchema): readonly string[] {
  return [
    minimum === undefined ? '' : `at least ${minimum}`,
    maximum === undefined ? '' : `at most ${maximum}`,
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    format ?? '',
    fallback === undefined ? '' : `default ${textOf(fallback)}`,
  ].filter((text) => text !== '')
}
