// A small MCP server whose definitions are those of a JSON file at the moment of the request: `changing-server.mjs FILE`.
// Each start adds a line to FILE.starts, each call one to FILE.calls; "silent" in the file is a method that is never answered, and "says" the text of all results.
import { appendFileSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [, , file] = process.argv
appendFileSync(`${file}.starts`, `${process.pid}\n`)
const state = () => JSON.parse(readFileSync(file, 'utf8'))
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} },
    serverInfo: { name: 'changing', version: '1.0.0' },
    ...(state().instructions === undefined ? {} : { instructions: state().instructions }),
  }),
  ping: () => ({}),
  'tools/list': ({ cursor }) => ({
    tools: state().tools ?? [],
    ...(state().endless === undefined ? {} : { nextCursor: state().endless === 'same' ? 'same' : `${cursor ?? ''}x` }),
  }),
  'prompts/list': () => ({ prompts: state().prompts ?? [] }),
  'prompts/get': ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: state().says ?? `prompt ${name}` } }],
  }),
  'resources/list': () => ({ resources: state().resources ?? [] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, text: state().says ?? `text of ${uri}` }] }),
  'tools/call': ({ name, arguments: args }) => {
    if (args?.announce) send({ method: 'notifications/tools/list_changed' })
    appendFileSync(`${file}.calls`, `${name}\n`)
    if (args?.exit || (args?.exitOnce && readFileSync(`${file}.calls`, 'utf8').split('\n').length === 2))
      process.exit(3)
    const environment = Object.keys(process.env).sort().join(' ')
    const text = args?.environment
      ? environment
      : args?.variable
        ? String(process.env[args.variable])
        : (state().says ?? `${name} ran`)
    return { content: [{ type: 'text', text }] }
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line)
  if (id === undefined || state().silent === method) return
  const answer = answers[method]
  if (answer === undefined) send({ id, error: { code: -32601, message: `unknown method ${method}` } })
  else send({ id, result: answer(params) })
})
