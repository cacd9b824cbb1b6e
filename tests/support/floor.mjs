// The least that answers from a database: node:http and one SELECT 1. DATABASE_URL says which.
import { createServer } from 'node:http'
import postgres from 'postgres'

const sql = postgres(process.env.DATABASE_URL, { max: 10 })
const server = createServer(async (_request, response) => {
  const [row] = await sql`select 1 as one`
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(row))
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`))
