// The least an HTTP server on the same database can do: hono, one SELECT, the rows as JSON. DATABASE_URL says where.
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import postgres from 'postgres'

const sql = postgres(process.env.DATABASE_URL, { max: 10 })
const app = new Hono()
app.get('/one/:name', async (c) =>
  c.json((await sql`select * from tools where workspace_id = 'default' and name = ${c.req.param('name')}`)[0]),
)
app.get('/list', async (c) =>
  c.json(await sql`select * from tools where workspace_id = 'default' order by updated_at desc, id desc limit 20`),
)
app.get('/search', async (c) => {
  const like = `%${c.req.query('q')}%`
  return c.json(
    await sql`select * from tools where workspace_id = 'default' and (name ilike ${like} or display_name ilike ${like} or description ilike ${like}) limit 10`,
  )
})
const server = createAdaptorServer({ fetch: app.fetch })
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`))
process.on('SIGTERM', () => process.exit(0))
