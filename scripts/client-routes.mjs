import { hasOwnKey, isKeepable, routes } from '../dist/surfaces/rest/routes.js'

// The search by GET has the input and the output of the search by POST.
const leftOut = new Set(['tools.searchByAddress'])

/** The routes of all operations, as far as a client needs them; a browser loads neither schemas nor handlers. */
export function clientRoutes() {
  const rows = routes
    .filter(({ name }) => !leftOut.has(name))
    .map((operation) => [operation.name, rowOf(operation)])
    .sort(([name], [other]) => (name < other ? -1 : 1))
  const lines = rows.map(([name, fields]) => {
    const text = fields.map(([field, value]) => `${field}: ${typeof value === 'string' ? `'${value}'` : value}`)
    return `  '${name}': { ${text.join(', ')} },`
  })
  return `// Written by \`npm run docs\` from the operations; edit those, not this file.
import type { ClientRoute } from '../../http-client/route.ts'

/** The routes of all operations by name. */
export const clientRoutes = {
${lines.join('\n')}
} as const satisfies Readonly<Record<string, ClientRoute>>
`
}

function rowOf(operation) {
  const { method, path, deadlineMs, media } = operation.http
  const reads = operation.scope === 'read' && method === 'post'
  const keyed = !reads && (isKeepable(operation) || hasOwnKey(operation))
  return Object.entries({
    method,
    path,
    reads: reads || undefined,
    keyed: keyed || undefined,
    deadlineMs: deadlineMs === undefined ? undefined : String(deadlineMs).replace(/\B(?=(\d{3})+$)/g, '_'),
    media,
  })
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => [field, field === 'deadlineMs' ? Raw(value) : value])
}

/** A value that is written without quotes. */
const Raw = (text) => ({ toString: () => text })
