// A service for benchmarks: answers every request with one small JSON object.
import { createServer } from 'node:http'

const body = JSON.stringify({ id: 7, name: 'a small answer', tags: ['a', 'b'], ok: true })
const server = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
process.stdin.on('end', () => process.exit()).resume()
