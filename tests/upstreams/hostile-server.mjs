// A server that speaks raw JSON-RPC of the older revision, and misbehaves as its first argument says.
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [, , mode = 'none', file = ''] = process.argv
const write = (text) => process.stdout.write(text)
const say = (message) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (value) => ({ content: [{ type: 'text', text: value }] })
const manyItems = (length) => Array.from({ length }, (_, id) => ({ id, text: 'word '.repeat(8) }))
const forever = () => setInterval(() => {}, 1000)

if (mode === 'crash-at-spawn') {
  process.stderr.write('cannot open the database\n')
  process.exit(3)
}
if (mode === 'deaf') {
  // Ends at nothing but SIGKILL, and neither does what it starts.
  process.on('SIGTERM', () => {})
  forever()
}
if (mode === 'stderr') {
  const more = () => {
    while (process.stderr.write('x'.repeat(65_536)));
    process.stderr.once('drain', more)
  }
  more()
}

const results = {
  echo: (id, { said }) => say({ id, result: text(said ?? 'echo') }),
  'crash-in-call': () => process.exit(7),
  'kill-in-call': () => process.kill(process.pid, 'SIGKILL'),
  hang: () => {},
  late: (id) => setTimeout(() => say({ id, result: text('late') }), 1500),
  twice: (id) => {
    say({ id, result: text('first') })
    say({ id, result: text('second') })
  },
  'wrong-id': (id) => {
    say({ id: id + 1000, result: text('for nobody') })
    say({ id: String(id), result: text('the id as a text') })
    say({ id: null, error: { code: -32603, message: 'for nobody' } })
    say({ id, result: text('right') })
  },
  malformed: (id) => {
    write('this is no JSON\n{"jsonrpc":"2.0"\n[]\n42\n"text"\n{"jsonrpc":"1.0","id":1,"result":{}}\n\n')
    say({ id, result: text('after all') })
  },
  'bad-result': (id) => say({ id, result: { content: 'not a list' } }),
  line: () => {
    const part = 'x'.repeat(1024 * 1024)
    let sent = 0
    write('{"jsonrpc":"2.0","id":1,"result":"')
    const more = () => {
      while (sent < 1024 && write(part)) sent++
      if (sent < 1024) process.stdout.once('drain', more)
    }
    more()
  },
  notices: () => {
    const notice = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(100) } }
    const line = `${JSON.stringify(notice)}\n`.repeat(100)
    const more = () => {
      while (write(line));
      process.stdout.once('drain', more)
    }
    more()
  },
  items: (id) => {
    const item = '{"type":"text","text":"i"},'
    write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[${item.repeat(1_000_000)}{"type":"text","text":"end"}]}}\n`)
  },
  'half-items': (id) => {
    const item = '{"type":"text","text":"i"},'
    write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[${item.repeat(500_000)}{"type":"text","text":"end"}]}}\n`)
  },
  base64: (id) => {
    const data = 'A'.repeat(8 * 1024 * 1024)
    say({
      id,
      result: {
        content: [
          { type: 'image', mimeType: 'image/png', data },
          { type: 'text', text: 'big' },
        ],
      },
    })
  },
  text: (id) => say({ id, result: text('t'.repeat(12 * 1024 * 1024)) }),
  structure: (id) => say({ id, result: { content: [], structuredContent: { items: manyItems(200_000) } } }),
  'json-text': (id) => say({ id, result: text(JSON.stringify({ items: manyItems(60_000) })) }),
  link: (id) =>
    say({
      id,
      result: {
        content: [{ type: 'resource_link', uri: 'javascript:alert(1)', name: 'x', icons: [{ src: 'javascript:1' }] }],
      },
    }),
  deep: (id) =>
    write(
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}}\n`,
    ),
  asks: (id) => {
    say({ id: 'q1', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } })
    say({
      id: 'q2',
      method: 'elicitation/create',
      params: { message: 'your password?', requestedSchema: { type: 'object', properties: {} } },
    })
    say({ id: 'q3', method: 'roots/list' })
    waiting = { id, answers: [] }
  },
}
let waiting

const lines = createInterface({ input: process.stdin })
if (mode === 'deaf') lines.on('close', forever)
lines.on('line', (line) => {
  const message = JSON.parse(line)
  const { id, method, params } = message
  if (file !== '') writeFileSync(file, `${line}\n`, { flag: 'a' })
  if (method === undefined) {
    waiting.answers.push([message.id, message.error?.code ?? 'given'])
    if (waiting.answers.length === 3) say({ id: waiting.id, result: text(JSON.stringify(waiting.answers)) })
    return
  }
  if (mode === 'exit-when-asked' && method === 'server/discover') process.exit(1)
  if (mode === 'hang-at-connect') return
  if (method === 'server/discover') return say({ id, error: { code: -32601, message: 'Method not found' } })
  if (method === 'initialize')
    return say({
      id,
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'hostile', version: '1' },
      },
    })
  if (method === 'ping') return mode === 'deaf' ? undefined : say({ id, result: {} })
  if (method === 'tools/list') {
    if (mode === 'hang-at-list') return
    const hostile = {
      type: 'object',
      properties: { said: { type: 'string', pattern: '^(a+)+$' } },
      $ref: params?.url ?? file,
    }
    const remote = { $ref: 'http://127.0.0.1:9/schema.json', type: 'object' }
    return say({
      id,
      result: {
        tools: Object.keys(results).map((name) => ({
          name,
          inputSchema: { type: 'object', ...hostile, $ref: undefined },
          outputSchema: remote,
        })),
      },
    })
  }
  if (method === 'tools/call') return (results[params.name] ?? results.echo)(id, params.arguments ?? {})
})
