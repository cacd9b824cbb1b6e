// A tool of a config, called on a server over HTTP at each level, beside the bare start of its program; and the start of the server.
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { median, ms, percentile, table } from './measure.mjs'

const [rounds, starts] = [60, 5]
const key = 'benchmark-key-0123456789'
const execute = promisify(execFile)

const variants = {
  'limited, without the shield': { words: ['--limited', 'coreutils'], env: { TOOLDEX_SHIELD: 'off' } },
  'limited, with the shield': { words: ['--limited', 'coreutils'], env: {} },
  'isolated (bubblewrap), the default': { words: [], env: {} },
}

export async function run() {
  const opened = []
  const startTimes = Object.fromEntries(Object.keys(variants).map((name) => [name, []]))
  try {
    for (let round = 0; round <= starts; round++)
      for (const [name, variant] of Object.entries(variants)) {
        const home =
          round === 0 ? mkdtempSync(join(tmpdir(), 'tooldex-bench-')) : opened.find((one) => one.name === name).home
        const server = await startServer(home, variant)
        // The first start fills the home.
        if (round > 0) startTimes[name].push(server.ms)
        if (round === 0) opened.push({ name, home })
        if (round < starts) await server.stop()
        else
          Object.assign(
            opened.find((one) => one.name === name),
            server,
          )
      }
    const times = await measureCalls(opened)
    return format(times, startTimes)
  } finally {
    for (const { stop } of opened) await stop?.()
    for (const { home } of opened) rmSync(home, { recursive: true, force: true })
  }
}

async function measureCalls(servers) {
  const floor = 'bare spawn of echo'
  const work = new Map([
    [floor, () => execute('/bin/echo', ['hello'])],
    ...servers.map((each) => [each.name, () => call(each.url)]),
  ])
  const times = Object.fromEntries([...work.keys()].map((name) => [name, []]))
  for (let round = -5; round < rounds; round++)
    for (const [name, one] of work) {
      const started = performance.now()
      await one()
      if (round >= 0) times[name].push(performance.now() - started)
    }
  return times
}

function format(times, startTimes) {
  const [floor] = Object.values(times).map(median)
  const calls = Object.entries(times).map(([name, all]) => [
    name,
    ms(median(all)),
    ms(percentile(all, 0.95)),
    (median(all) / floor).toFixed(2),
  ])
  const [first] = Object.values(startTimes).map(median)
  const begun = Object.entries(startTimes).map(([name, all]) => [
    name,
    ms(median(all)),
    (median(all) / first).toFixed(2),
  ])
  return [
    `${rounds} calls each, in turn, recorded in the embedded database. Start: from the process to the first ready answer, median of ${starts}, in turn.`,
    table(['call of coreutils_echo', 'p50', 'p95', 'times the bare spawn'], calls),
    table(['start of the server', 'p50', 'times the first'], begun),
  ].join('\n\n')
}

async function call(url) {
  const answer = await fetch(`${url}/api/v1/llm/tools/coreutils_echo/invoke`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: { message: 'hello' } }),
  })
  const body = await answer.json()
  if (body.success !== true) throw new Error(JSON.stringify(body))
}

async function startServer(home, { words, env }) {
  const main = new URL('../dist/app/main.js', import.meta.url).pathname
  const { DATABASE_URL: _database, TOOLDEX_URL: _server, ...inherited } = process.env
  const started = performance.now()
  const child = spawn(process.execPath, [main, 'serve', '--port', '0', ...words, 'coreutils'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...inherited, TOOLDEX_HOME: home, TOOLDEX_API_KEY: key, ...env },
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const url = await new Promise((resolve, reject) => {
    let text = ''
    child.stderr.setEncoding('utf8').on('data', (piece) => {
      text += piece
      const [, found] = /serves .* at (http:\S+)/.exec(text) ?? []
      if (found !== undefined) resolve(found)
    })
    child.once('close', () => reject(new Error(`the server ended: ${text}`)))
  })
  while (!(await fetch(`${url}/readyz`)).ok);
  const stop = () => {
    child.kill('SIGTERM')
    return ended
  }
  return { url, stop, ms: performance.now() - started }
}
