interface Property {
  readonly type?: unknown
  readonly items?: Property
  readonly enum?: readonly unknown[]
  readonly default?: unknown
}

/** A tool and its arguments on one line: `git_log(max_count?: integer = 10, oneline?: boolean)`. */
export function signatureOf(name: string, schema: Readonly<Record<string, unknown>>): string {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, Property>>
  const required = (schema.required ?? []) as readonly string[]
  const parts = Object.entries(properties).map(([key, property]) => {
    const optional = required.includes(key) ? '' : '?'
    const fallback = property.default === undefined ? '' : ` = ${JSON.stringify(property.default)}`
    return `${key}${optional}: ${typeOf(property)}${fallback}`
  })
  return `${name}(${parts.join(', ')})`
}

function typeOf(property: Property): string {
  if (property.enum !== undefined) return property.enum.map((value) => JSON.stringify(value)).join('|')
  if (property.type === 'array') return `${property.items === undefined ? 'any' : typeOf(property.items)}[]`
  return typeof property.type === 'string' ? property.type : 'any'
}
