interface Property {
  readonly type?: unknown
  readonly items?: Property
  readonly enum?: readonly unknown[]
  readonly default?: unknown
}

// Further optional arguments are counted, not listed: an agent that needs them requests the schema.
const maxOptional = 4

/** A tool and its arguments on one line, required ones first: `git_commit(message: string, all?: boolean, +3 optional)`. */
export function signatureOf(name: string, schema: Readonly<Record<string, unknown>>): string {
  const properties = Object.entries((schema.properties ?? {}) as Readonly<Record<string, Property>>)
  const required = (schema.required ?? []) as readonly string[]
  const write = ([key, property]: (typeof properties)[0]) => {
    const fallback = property.default === undefined ? '' : ` = ${JSON.stringify(property.default)}`
    return `${key}${required.includes(key) ? '' : '?'}: ${typeOf(property)}${fallback}`
  }
  const optional = properties.filter(([key]) => !required.includes(key))
  const left = optional.length - maxOptional
  const parts = [
    ...properties.filter(([key]) => required.includes(key)).map(write),
    ...optional.slice(0, maxOptional).map(write),
    ...(left > 0 ? [`+${left} optional`] : []),
  ]
  return `${name}(${parts.join(', ')})`
}

function typeOf(property: Property): string {
  if (property.enum !== undefined) return property.enum.map((value) => JSON.stringify(value)).join('|')
  if (property.type === 'array') return `${property.items === undefined ? 'any' : typeOf(property.items)}[]`
  return typeof property.type === 'string' ? property.type : 'any'
}
