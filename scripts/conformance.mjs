// Runs the conformance suite of MCP against a server with the fixtures of examples/conformance, and writes docs/conformance.md.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as send } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFixtures } from '../examples/conformance/start.mjs'

const suite = '@modelcontextprotocol/conformance@0.2.0-alpha.12'
const revisions = ['2025-11-25', '2026-07-28']
const page = new URL('../docs/conformance.md', import.meta.url)

/** Why optional scenarios are not met, by the beginning of their names. */
const reasons = {
  'server-sse-polling': 'Streams are not resumed: no event is stored, and a result is read by the id of its execution.',
  'tasks-mrtr': 'A call requests input before it becomes a task, never afterwards.',
  'tasks-dispatch': 'A fixture requests input after it became a task.',
  'tasks-status-notifications': 'The state of a task is polled; subscriptions announce lists and resources only.',
  'tasks-required-task-error': 'No tool requires a client with tasks: a long call is answered with its execution id.',
  'tasks-lifecycle': 'A failure of the platform is an execution that failed, with an error code, not a protocol error.',
}

/** The suite sends no key, so a proxy adds it; all other headers are passed on as they are. */
async function startProxy({ url, key }) {
  const { hostname, port } = new URL(url)
  const proxy = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${key}` }
    const options = { hostname, port, path: '/mcp?mode=classic', method: incoming.method, headers, setHost: false }
    const forwarded = send(options, (response) => {
      outgoing.writeHead(response.statusCode, response.headers)
      response.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  return proxy
}

/** Runs the scenarios of a revision; the summary of the suite names the optional ones. */
async function run(url, revision, folder) {
  const packages = ['--package', 'node@24', '--package', suite]
  const args = ['--yes', ...packages, 'conformance', 'server', '--url', url, '--requirements', revision, '-o', folder]
  const child = spawn('npx', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let log = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    log += text
  })
  const [status] = await once(child, 'close')
  const summary = log.slice(log.indexOf('=== SUMMARY ==='))
  console.log(summary)
  const optional = new Set(Array.from(summary.matchAll(/^ {2}[✓✗] (\S+) \(/gm), ([, scenario]) => scenario))
  const results = readResults(folder)
  return { status, results, required: new Set([...results.keys()].filter((scenario) => !optional.has(scenario))) }
}

function readResults(folder) {
  const results = new Map()
  for (const name of readdirSync(folder)) {
    const checks = JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8'))
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d{2}-\d{2}T.*$/, '')
    const count = (wanted) => checks.filter(({ status }) => status === wanted).length
    results.set(scenario, { passed: count('SUCCESS'), failed: count('FAILURE') })
  }
  return results
}

const reasonOf = (scenario) => Object.entries(reasons).find(([start]) => scenario.startsWith(start))?.[1] ?? ''

function cellOf({ results, required }, scenario) {
  const result = results.get(scenario)
  if (result === undefined) return ''
  const { passed, failed } = result
  const isMet = failed === 0 && passed > 0
  const shown = isMet ? `passes (${passed})` : failed === 0 ? 'skipped' : `${failed} of ${passed + failed} fail`
  return required.has(scenario) ? shown : `${shown}, optional`
}

function rowOf(all, scenario) {
  const cells = all.map((run) => cellOf(run, scenario))
  const isMet = cells.every((cell) => cell === '' || cell.startsWith('passes'))
  return `| \`${scenario}\` | ${cells.join(' | ')} | ${isMet ? '' : reasonOf(scenario)} |`
}

function pageOf(all) {
  const scenarios = [...new Set(all.flatMap(({ results }) => [...results.keys()]))].sort()
  const summary = all.map(({ results, required }, index) => {
    const met = [...required].filter((scenario) => results.get(scenario).failed === 0)
    return `- ${revisions[index]}: ${met.length} of ${required.size} required server scenarios pass.`
  })
  return `# Conformance

\`npm run conformance\` runs the [conformance suite](https://github.com/modelcontextprotocol/conformance) of MCP
(${suite.split('@').at(-1)}, under node 24 of npm) against \`/mcp?mode=classic\` with the [fixtures](../examples/conformance/README.md), and
writes this page.

${summary.join('\n')}

Run on ${new Date().toISOString().slice(0, 10)} against a server on Node ${process.versions.node}. The number of passed checks is in
parentheses. Scenarios of extensions are optional, and those that were pending or added after the revision was published.

| scenario | ${revisions.join(' | ')} | reason, if not met |
| --- | --- | --- | --- |
${scenarios.map((scenario) => rowOf(all, scenario)).join('\n')}
`
}

const folder = mkdtempSync(join(tmpdir(), 'tooldex-conformance-results-'))
const fixtures = await startFixtures()
const proxy = await startProxy(fixtures)
try {
  const all = []
  for (const revision of revisions)
    all.push(await run(`http://127.0.0.1:${proxy.address().port}/mcp`, revision, join(folder, revision)))
  writeFileSync(page, pageOf(all))
  const isMet = all.every(({ results, required }) => [...required].every((name) => results.get(name).failed === 0))
  process.exitCode = isMet ? 0 : 1
} finally {
  proxy.closeAllConnections()
  proxy.close()
  await fixtures.stop()
  rmSync(folder, { recursive: true, force: true })
}
