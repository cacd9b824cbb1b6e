// Lists the source files of which a function runs in each of the four requests that ARCHITECTURE.md walks through.
// Run `npm run build` first. The traced processes load this file as well (--import): on SIGUSR2 and at their end, they write which
// functions ran. Worker threads are not traced.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'

const dist = fileURLToPath(new URL('../dist', import.meta.url))
const main = join(dist, 'app', 'main.js')
const bundle = join(dist, 'bundle')
const target = process.env.TRACE_FUNCTIONS

/** Writes the functions that ran, with their counts, since the last signal. */
function writeFunctions(folder) {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const prefix = `file://${dist}/`
  const write = (name) =>
    session.post('Profiler.takePreciseCoverage', (_, { result }) => {
      const ran = {}
      for (const { url, functions } of result.filter((script) => script.url.startsWith(prefix)))
        for (const { functionName, ranges } of functions) {
          const { startOffset, count } = ranges[0]
          // The first one is the module itself.
          if (count > 0 && startOffset > 0) ran[`${url.slice(prefix.length)} ${startOffset} ${functionName}`] = count
        }
      writeFileSync(join(folder, `${process.pid}.${name}`), JSON.stringify(ran))
    })
  let taken = 0
  process.on('SIGUSR2', () => write(`signal-${++taken}`))
  process.on('exit', () => write('end'))
  writeFileSync(join(folder, `${process.pid}.started`), '')
}

async function traceAll() {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-walks-'))
  try {
    const loading = await traceLoading(home)
    report(
      'A call over stdio',
      await traceStdio(home, 'call_tool', { name: 'coreutils_echo', arguments: { message: 'hi' } }),
    )
    report('A search', await traceStdio(home, 'search_tools', { query: 'print a message' }))
    report('A queued execution', await traceQueued(home))
    report('tooldex tools create FILE', await traceCreate(home), loading)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** The functions that run where the program is only loaded. */
async function traceLoading(home) {
  const programs = new Set(['main.js', 'launcher-process.js'])
  const files = readdirSync(bundle).filter((file) => !programs.has(file))
  const text = `for (const file of ${JSON.stringify(files)}) await import('${bundle}/' + file)\nprocess.exit()`
  return runTraced(home, ['--input-type=module', '-e', text])
}

async function traceStdio(home, name, args) {
  const server = startTraced(home, [main, 'run', 'coreutils'], { DATABASE_URL: '' })
  const lines = createInterface({ input: server.child.stdout })[Symbol.asyncIterator]()
  const send = (message) => server.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const ask = async (id, method, params) => {
    send({ id, method, params })
    for (;;) {
      const answer = JSON.parse((await lines.next()).value)
      if (answer.id === id) return answer.result
    }
  }
  const clientInfo = { name: 'walks', version: '1' }
  await ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  send({ method: 'notifications/initialized' })
  await ask(2, 'tools/call', { name, arguments: args })
  return server.between(async () => {
    const result = await ask(3, 'tools/call', { name, arguments: args })
    if (result.isError) throw new Error(JSON.stringify(result))
  })
}

async function traceQueued(home) {
  const { startPostgres } = await import('../benchmarks/postgres.mjs')
  const postgres = await startPostgres()
  const key = 'a-key-for-walks-only-0123'
  const env = { DATABASE_URL: await postgres.createDatabase('walks'), TOOLDEX_API_KEY: key }
  const serve = startTraced(home, [main, 'serve', '--port', '0', '--no-worker'], env)
  let worker
  try {
    const url = await serve.printed(/http:\/\/[\d.]+:\d+/)
    worker = startTraced(home, [main, 'worker'], env)
    await worker.printed(/concurrent calls/)
    const send = async (method, path, body) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const response = await fetch(`${url}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) })
      const answer = await response.json()
      if (!response.ok) throw new Error(JSON.stringify(answer))
      return answer
    }
    const execute = () => send('POST', `/tools/${pythonTool.name}/execute`, { input: { name: 'you' } })
    const ended = async ({ id }) => {
      for (;;) {
        const { status } = await send('GET', `/executions/${id}`)
        if (status === 'SUCCESS') return
        if (status !== 'PENDING' && status !== 'RUNNING') throw new Error(`the run ended as ${status}`)
        await sleep(100)
      }
    }
    await send('POST', '/tools', pythonTool)
    await send('POST', `/tools/${pythonTool.name}/activate`, {})
    await ended(await execute())
    await sleep(1000)
    const [served, worked] = await Promise.all([serve.begin(), worker.begin()])
    const queued = await execute()
    const request = await served()
    await ended(queued)
    await sleep(1000)
    return merge(request, await worked())
  } finally {
    await worker?.stop()
    await serve.stop()
    await postgres.stop()
  }
}

async function traceCreate(home) {
  const file = join(home, 'tool.json')
  writeFileSync(file, JSON.stringify(pythonTool))
  return runTraced(home, [main, 'tools', 'create', file], { DATABASE_URL: '' })
}

/** Runs a process to its end; returns all functions that ran in it. */
async function runTraced(home, args, env = {}) {
  const started = startTraced(home, args, env)
  const code = await started.ended
  if (code !== 0) throw new Error(`${args.join(' ')} exited with ${code}: ${started.log()}`)
  return started.read('end')
}

function startTraced(home, args, env) {
  const folder = mkdtempSync(join(home, 'trace-'))
  const own = join(home, 'home')
  mkdirSync(own, { recursive: true })
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...env,
      TOOLDEX_HOME: own,
      TRACE_FUNCTIONS: folder,
      NODE_OPTIONS: `--import ${fileURLToPath(import.meta.url)}`,
    },
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    log += text
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const pids = () => readdirSync(folder).flatMap((file) => (file.endsWith('.started') ? [file.split('.')[0]] : []))
  const read = (name) =>
    merge(
      ...pids().map((pid) => {
        const path = join(folder, `${pid}.${name}`)
        return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
      }),
    )
  let taken = 0
  /** Asks this process and those that it has started for the functions that ran. */
  const take = async () => {
    taken += 1
    for (const pid of pids()) process.kill(Number(pid), 'SIGUSR2')
    for (const pid of pids()) await until(() => existsSync(join(folder, `${pid}.signal-${taken}`)), log)
    await sleep(100)
    return read(`signal-${taken}`)
  }
  const begin = async () => {
    await take()
    return take
  }
  const stop = async () => {
    child.kill()
    await ended
  }
  return {
    child,
    ended,
    read,
    begin,
    stop,
    log: () => log,
    async printed(pattern) {
      await until(
        () => pattern.test(log),
        () => log,
      )
      return pattern.exec(log)[0]
    },
    async between(work) {
      try {
        const end = await begin()
        await work()
        return await end()
      } finally {
        await stop()
      }
    },
  }
}

async function until(condition, log) {
  for (let left = 600; !condition(); left--) {
    if (left === 0) throw new Error(`nothing happened in a minute: ${log()}`)
    await sleep(100)
  }
}

function merge(...traces) {
  const all = {}
  for (const trace of traces) for (const [name, count] of Object.entries(trace)) all[name] = (all[name] ?? 0) + count
  return all
}

const locations = new Map()

/** The source file of a function: a bundle names the files that it consists of. */
function sourceOf(module, offset) {
  if (!locations.has(module)) {
    const text = readFileSync(join(dist, module), 'utf8')
    locations.set(
      module,
      Array.from(text.matchAll(/^\/\/ src\/(.*)$/gm), ({ index, 1: file }) => ({ index, file })),
    )
  }
  return locations.get(module).findLast(({ index }) => index < offset)?.file ?? module.replace(/\.js$/, '.ts')
}

/** Prints the files of a trace; functions that run as often where the program is only loaded do not count. */
function report(title, trace, loading = {}) {
  const files = new Map()
  for (const [name, count] of Object.entries(trace)) {
    if (count <= (loading[name] ?? 0)) continue
    const [module, offset, functionName] = name.split(' ')
    const file = sourceOf(module, Number(offset))
    // Bundled packages.
    if (file.startsWith('packages/')) continue
    files.set(file, [...(files.get(file) ?? []), functionName].filter(Boolean))
  }
  const isHelper = (file) => /^(?:base|contract|rules)\//.test(file)
  const own = [...files.keys()].filter((file) => !isHelper(file)).sort()
  console.log(`\n${title}: ${own.length} files, and ${files.size - own.length} in base, contract and rules`)
  for (const file of own) {
    const names = files.get(file).slice(0, 5).join(', ')
    console.log(`  ${file}${process.argv.includes('--functions') ? `  ${names}` : ''}`)
  }
}

const pythonTool = {
  name: 'greet',
  displayName: 'Greet',
  description: 'Greets a person by name.',
  inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  executorType: 'python',
  executorConfig: {},
  scriptContent: 'def main(given):\n    return {"text": "Hello " + given["name"]}\n',
}

if (target === undefined) await traceAll()
else if (isMainThread) writeFunctions(target)
