import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pagesDir } from '../../base/package-info.ts'
import { openApiDocument } from './openapi.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: ValueSchema
}

interface ValueSchema {
  readonly enum?: readonly unknown[]
  readonly items?: ValueSchema
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly type?: string
}

interface Content {
  readonly schema: unknown
  readonly example?: unknown
}

interface Described {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { content: { 'application/json': Content } }
  readonly responses: Record<string, { content?: Record<string, Content> }>
}

interface Page {
  readonly html: string
  readonly policy: string
}

let cachedPage: Page | undefined

/** Serves the API page, built from the OpenAPI document; it loads no external resources. */
export async function docsPage(): Promise<Response> {
  cachedPage ??= makePage(await openApiDocument())
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': cachedPage.policy }
  return new Response(cachedPage.html, { headers })
}

function makePage(document: object): Page {
  const style = readFileSync(join(pagesDir, 'docs.css'), 'utf8')
  const script = readFileSync(join(pagesDir, 'docs.js'), 'utf8')
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
  return { html: htmlOf(style, script, document), policy }
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const htmlOf = (style: string, script: string, document: object): string =>
  `<!doctype html><html lang="en" class="needs-script"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Tooldex API</title><style>${style}</style></head><body>
<header><h1>Tooldex API</h1><input id="find" type="search" placeholder="find an operation" aria-label="find an operation" data-script>
<div class="who" data-script><span id="who" role="status"></span><button id="forget" type="button" hidden>Forget the key</button>
<form id="sign-in"><input type="password" required autocomplete="off" placeholder="API key" aria-label="API key"> <button>Use this key</button></form></div></header>
<p>All paths are below <code>/api/v1</code>; every request needs <code>Authorization: Bearer KEY</code>. OpenAPI document: <a href="/openapi.json">/openapi.json</a>.</p>
<main>${sections(document)}</main><script>${script}</script></body></html>`

function sections(document: object): string {
  const { paths } = document as { paths: Record<string, Record<string, Described>> }
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const tags = [...new Set(all.flatMap(({ operation }) => operation.tags))]
  const inIt = (tag: string) => all.filter(({ operation }) => operation.tags.includes(tag)).map(entry)
  return tags.map((tag) => `<section><h2>${toHtml(tag)}</h2>${inIt(tag).join('')}</section>`).join('\n')
}

interface Entry {
  readonly path: string
  readonly method: string
  readonly operation: Described
}

function entry({ path, method, operation }: Entry): string {
  const body = operation.requestBody?.content['application/json']
  const answer = Object.values(operation.responses)[0]?.content?.['application/json']
  const title = `<span class="method ${method}">${method.toUpperCase()}</span><code>${toHtml(path)}</code> ${toHtml(operation.summary)}`
  return `<details class="operation" id="${toHtml(operation.operationId)}"><summary>${title}</summary><div class="inside">
<p class="quiet">${withCode(operation.description)}</p>${form({ path, method, operation })}
${collapsible('Schema of the body', body?.schema)}${collapsible('Example response', answer?.example)}${collapsible('Schema of the response', answer?.schema)}</div></details>`
}

function form({ path, method, operation }: Entry): string {
  const rows = (operation.parameters ?? []).map(row).join('')
  const example = operation.requestBody?.content['application/json'].example
  const text = example === undefined ? '{}' : JSON.stringify(example, null, 2)
  const lines = Math.min(text.split('\n').length + 1, 24)
  const body =
    operation.requestBody === undefined
      ? ''
      : `<p>Body</p><textarea rows="${lines}" spellcheck="false" aria-label="body">${toHtml(text)}</textarea>`
  return `<form data-method="${method}" data-path="${toHtml(path)}">${rows === '' ? '' : `<table>${rows}</table>`}${body}
<p data-script><button>Send</button> <button class="stop" type="button" hidden>Stop</button> <span class="status quiet" role="status"></span></p>
<pre class="answer result" hidden></pre><pre class="curl result" hidden></pre></form>`
}

function row({ name, in: location, required, description, schema }: Parameter): string {
  const input = `<input name="${toHtml(name)}" data-in="${location}"${required ? ' required' : ''} aria-label="${toHtml(name)}">`
  return `<tr><td><code>${toHtml(name)}</code></td><td data-script>${input}</td><td>${location}${required ? ', required' : ''}</td><td>${toHtml(description ?? '')} <span class="quiet">${toHtml(valuesOf(schema))}</span></td></tr>`
}

/** Summarizes the accepted values. */
function valuesOf(schema: ValueSchema): string {
  const { enum: values = schema.items?.enum, default: defaultValue, minimum, maximum, type } = schema
  const range = minimum === undefined || maximum === undefined ? undefined : `${minimum} to ${maximum}`
  const accepted = type === 'boolean' ? 'true or false' : (values?.join(', ') ?? range)
  return [accepted, defaultValue === undefined ? undefined : `default ${defaultValue}`]
    .filter((part) => part !== undefined)
    .join('; ')
}

/** Renders text in backticks as code. */
const withCode = (text: string): string => toHtml(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>')

const collapsible = (title: string, value: unknown): string =>
  value === undefined
    ? ''
    : `<details><summary>${title}</summary><pre>${toHtml(JSON.stringify(value, null, 2))}</pre></details>`

const toHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
