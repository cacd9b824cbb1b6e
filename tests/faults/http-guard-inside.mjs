// Runs inside a network namespace without routes: whatever a guard lets through ends at the canary, and nowhere else.
import { createSocket } from 'node:dgram'
import { createServer } from 'node:http'
import { createHttpExecutor } from '../../dist/executors/http/http-executor.js'

const executor = createHttpExecutor()
const seen = []
const canary = createServer((request, response) => {
  seen.push(request.url)
  if (request.url === '/to-private') response.writeHead(302, { location: 'http://127.0.0.1:8080/stolen' })
  else if (request.url === '/to-file') response.writeHead(302, { location: 'file:///etc/passwd' })
  response.end('canary')
})
await new Promise((resolve) => canary.listen(8080, '::', resolve))
for (const host of ['0.0.0.0'])
  createServer((request, response) => response.end(seen.push(request.url) && 'canary'))
    .on('error', () => {})
    .listen(8080, host)

/** A name server that answers each name as the test wants it: first public, then private. */
let asked = 0
const dns = createSocket('udp4')
dns.on('message', (query, from) => {
  const labels = []
  for (let at = 12; query[at] > 0; at += query[at] + 1)
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]))
  const end = 12 + labels.join('.').length + 2
  const type = query.readUInt16BE(end)
  const answers = {
    rebind: asked++ < 2 ? [203, 0, 114, 9] : [127, 0, 0, 1],
    inside: [127, 0, 0, 1],
    mixed: [203, 0, 114, 9],
  }
  const six = labels[0] === 'mixed' ? Buffer.from('00000000000000000000000000000001', 'hex') : undefined
  const data = type === 1 ? answers[labels[0]] && Buffer.from(answers[labels[0]]) : type === 28 ? six : undefined
  const head = Buffer.from(query.subarray(0, end + 4))
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(data ? 1 : 0, 6)
  head.writeUInt16BE(0, 8)
  head.writeUInt16BE(0, 10)
  const record = data
    ? Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]), data])
    : Buffer.alloc(0)
  dns.send(Buffer.concat([head, record]), from.port, from.address)
})
await new Promise((resolve) => dns.bind(53, '127.0.0.1', resolve))

const call = async (url, more = {}) => {
  const tool = { name: 'ask', executorConfig: { method: 'GET', url, ...more }, constraints: [] }
  try {
    const { status, errorCode } = await executor.prepare({ tool, input: {}, timeoutMs: 60_000 }).run({})
    return `${status} ${errorCode}`
  } catch (error) {
    return `refused ${error.code}`
  }
}

/** Two addresses that look public, on a machine that nobody outside can reach. */
const [first, second] = ['93.184.216.34', '93.184.216.35']
const carried = []
const target = createServer((request, response) => {
  carried.push({ url: request.url, authorization: request.headers.authorization ?? null, method: request.method })
  response.end('target')
})
await new Promise((resolve) => target.listen(8090, second, resolve))
const jumps = {
  '/private': 'http://127.0.0.1:8080/stolen',
  '/file': 'file:///etc/passwd',
  '/other': `http://${second}:8090/here`,
}
jumps['/chain'] = '/private'
jumps['/loop'] = '/loop'
const jumper = createServer((request, response) => {
  response.writeHead(request.method === 'POST' ? 307 : 302, { location: jumps[request.url] })
  response.end()
})
await new Promise((resolve) => jumper.listen(8091, first, resolve))
const secret = async () => 'the-secret-of-the-first'
const hop = async (path, more = {}) => {
  const config = { method: 'GET', url: `http://${first}:8091${path}`, auth: { type: 'bearer', secret: 'x' }, ...more }
  const { status, errorCode, errorMessage } = await executor
    .prepare({ tool: { name: 'hop', executorConfig: config }, input: {}, timeoutMs: 60_000 })
    .run({ secret })
  return `${status} ${errorCode} ${/the-secret/.test(errorMessage ?? '')}`
}
const hops = {
  private: await hop('/private'),
  chain: await hop('/chain'),
  file: await hop('/file'),
  loop: await hop('/loop'),
  other: await hop('/other'),
  body: await hop('/other', { method: 'POST', body: { a: 1 } }),
}

const answers = {}
for (const address of JSON.parse(process.argv[2])) answers[address] = await call(`http://${address}:8080/`)
const guarded = seen.length
const rebind = [await call('http://rebind.test:8080/'), await call('http://rebind.test:8080/')]
const names = { rebind, mixed: await call('http://mixed.test:8080/'), inside: await call('http://inside.test:8080/') }
const byNames = seen.length - guarded
const allowed = await call('http://inside.test:8080/', { allowPrivate: true })
console.log(JSON.stringify({ hops, carried, answers, guarded, names, byNames, allowed, reached: seen.length }))
process.exit(0)
