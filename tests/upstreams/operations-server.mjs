// A stand-in MCP server for people who run things: a small database, and the logs of pods from a Kubernetes API.
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'

const tables = {
  orders: [
    { id: 1, total: 12.5 },
    { id: 2, total: 7 },
  ],
  customers: [{ id: 1, name: 'Ada' }],
}
const give = (data) => ({
  content: [{ type: 'text', text: JSON.stringify({ success: true, data }) }],
  structuredContent: { success: true, data },
})
const login = {
  db_type: z.string(),
  host: z.string(),
  port: z.number().optional(),
  database: z.string(),
  username: z.string(),
  password: z.string(),
  schema: z.string().optional(),
}

serveStdio(() => {
  const server = new McpServer({ name: 'operations', version: '1.0.0' })
  const tool = (name, shape, work) =>
    server.registerTool(name, { description: name, inputSchema: z.looseObject(shape) }, work)
  tool('list_tables', login, async ({ database, schema }) => {
    const found = Object.entries(tables).map(([name, rows]) => ({
      name,
      type: 'table',
      row_count: rows.length,
      size_bytes: 8192,
    }))
    return give({ database, schema, tables: found })
  })
  tool('describe_table', { ...login, table_name: z.string() }, async ({ table_name, schema }) => {
    const [first] = tables[table_name] ?? []
    if (first === undefined)
      return { content: [{ type: 'text', text: `there is no table ${table_name}` }], isError: true }
    const columns = Object.entries(first).map(([name, value]) => ({ name, type: typeof value }))
    return give({ table_name, schema, columns, indexes: [], foreign_keys: [] })
  })
  tool(
    'query',
    { ...login, query: z.string(), max_rows: z.number().optional() },
    async ({ query, max_rows = 1000 }) => {
      const [, name] = /^select \* from (\w+)$/i.exec(query) ?? []
      const rows = tables[name]
      if (rows === undefined)
        return { content: [{ type: 'text', text: 'only SELECT * FROM a table that is there' }], isError: true }
      const columns = Object.keys(rows[0])
      const shown = rows.slice(0, max_rows).map((row) => Object.values(row))
      return give({
        columns,
        rows: shown,
        row_count: shown.length,
        truncated: shown.length < rows.length,
        execution_time_ms: 1,
      })
    },
  )
  tool('pod_log', { namespace: z.string(), pod_name: z.string(), tail_lines: z.number() }, async (input) => {
    const { namespace, pod_name, tail_lines, container = 'main' } = input
    const address = `${process.env.K8S_URL}/api/v1/namespaces/${namespace}/pods/${pod_name}/log?tailLines=${tail_lines}`
    const response = await fetch(address, { headers: { authorization: `Bearer ${process.env.K8S_TOKEN}` } })
    const logs = await response.text()
    return give({ pod_name, container, logs, line_count: logs.trim().split('\n').length })
  })
  return server
})
