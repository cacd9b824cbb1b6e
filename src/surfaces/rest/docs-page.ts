import type { Context } from 'hono'
import { openApiDocument } from './openapi.ts'

interface Described {
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly parameters?: readonly {
    name: string
    in: string
    required: boolean
    description?: string
    schema: unknown
  }[]
  readonly requestBody?: { content: { 'application/json': { schema: unknown } } }
  readonly responses: Record<string, { content?: Record<string, { schema: unknown }> }>
}

const style = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2430;background:#fff}
h1{margin-bottom:0}h2{margin-top:2.5rem;border-bottom:1px solid #d9dee5}details{border:1px solid #d9dee5;border-radius:6px;margin:.5rem 0}
summary{padding:.5rem .75rem;cursor:pointer}code,pre{font:13px/1.45 ui-monospace,monospace}.m{display:inline-block;min-width:4.5rem;font-weight:700}
.get{color:#0a6}.post{color:#06c}.patch,.put{color:#a60}.delete{color:#c22}pre{background:#f5f7fa;padding:.75rem;overflow:auto;margin:.5rem .75rem}
p,table{margin:.5rem .75rem}td{padding:.1rem .75rem .1rem 0;vertical-align:top}
@media(prefers-color-scheme:dark){body{background:#14181d;color:#dfe5ec}pre{background:#1d232b}details,h2{border-color:#333c47}}`

/** A page to read what there is, made of the same document; it loads nothing from anywhere. */
export function docsPage(c: Context): Response {
  const { paths } = openApiDocument() as { paths: Record<string, Record<string, Described>> }
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const tags = [...new Set(all.flatMap(({ operation }) => operation.tags))]
  const sections = tags.map((tag) => {
    const inIt = all.filter(({ operation }) => operation.tags.includes(tag))
    return `<h2>${toHtml(tag)}</h2>${inIt.map(({ path, method, operation }) => entry(path, method, operation)).join('')}`
  })
  c.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
  return c.html(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Tooldex API</title><style>${style}</style>
<h1>Tooldex API</h1><p>Below <code>/api/v1</code>; every request needs <code>Authorization: Bearer KEY</code>. For machines: <a href="/openapi.json">/openapi.json</a>.</p>
${sections.join('\n')}</html>`,
  ) as Response
}

function entry(path: string, method: string, operation: Described): string {
  const rows = (operation.parameters ?? []).map(
    ({ name, in: place, required, description }) =>
      `<tr><td><code>${toHtml(name)}</code></td><td>${place}${required ? ', required' : ''}</td><td>${toHtml(description ?? '')}</td></tr>`,
  )
  const body = operation.requestBody?.content['application/json'].schema
  const answer = Object.values(operation.responses)[0]?.content?.['application/json']?.schema
  return `<details><summary><span class="m ${method}">${method.toUpperCase()}</span><code>${toHtml(path)}</code> ${toHtml(operation.summary)}</summary>
<p>${toHtml(operation.description)}</p>${rows.length === 0 ? '' : `<table>${rows.join('')}</table>`}${shown('Body', body)}${shown('Answer', answer)}</details>`
}

const shown = (title: string, schema: unknown): string =>
  schema === undefined ? '' : `<p>${title}</p><pre>${toHtml(JSON.stringify(schema, null, 2))}</pre>`

const toHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
