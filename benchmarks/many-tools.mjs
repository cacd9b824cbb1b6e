// An MCP server for benchmarks that offers many tools, 500 a page: `many-tools.mjs COUNT`. It speaks the older revision.
import { createInterface } from 'node:readline'

const [verbs, objects] = [
  ['create', 'read', 'list', 'update', 'delete', 'archive', 'restore', 'export', 'import', 'share'],
  ['invoice', 'contact', 'ticket', 'deployment', 'branch', 'calendar event', 'order', 'refund', 'report', 'sensor'],
]
const string = { type: 'string' }
const toolOf = (index) => {
  const [verb, object] = [verbs[index % 10], objects[Math.floor(index / 10) % 10]]
  const region = Math.floor(index / 100)
  return {
    name: `${verb}_${object.replace(' ', '_')}_${region}`,
    description: `${verb} one ${object} of region ${region}, by its identifier or its number, with the fields that are passed`,
    inputSchema: {
      type: 'object',
      properties: { id: { ...string, description: `The identifier of the ${object}` }, fields: { type: 'object' } },
      required: ['id'],
    },
    annotations: { readOnlyHint: verb === 'read' || verb === 'list' },
  }
}
const tools = Array.from({ length: Number(process.argv[2]) }, (_, index) => toolOf(index))
const pageSize = 500
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'many', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': ({ cursor = '0' }) => {
    const [from, to] = [Number(cursor), Number(cursor) + pageSize]
    return { tools: tools.slice(from, to), ...(to < tools.length ? { nextCursor: String(to) } : {}) }
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line)
  if (id === undefined) return
  const result = answers[method]?.(params)
  const error = { code: -32601, message: `unknown method ${method}` }
  process.stdout.write(
    `${JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) })}\n`,
  )
})
