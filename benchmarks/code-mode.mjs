// What five tasks of several steps cost with programs and call by call, in tokens and round trips; and the time of one program.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base'
import { median, ms, percentile, RawPeer, table } from './measure.mjs'

const main = fileURLToPath(new URL('../dist/app/main.js', import.meta.url))
const folder = fileURLToPath(new URL('..', import.meta.url))
const tokens = (value) => countTokens(typeof value === 'string' ? value : JSON.stringify(value))

const lines = (text) => text.split('\n').filter((line) => line !== '')

// Each task twice: as the calls of an agent that reads every answer, and as a program with the same result.
const tasks = [
  {
    title: 'which of the last 15 commits changed a migration or the schema',
    async byCalls(call) {
      const log = await call('git_log', { max_count: 15, format: '%h' })
      const touched = []
      for (const object of lines(log)) {
        const files = await call('git_show', { object, name_only: true, format: '%s' })
        if (/^(migrations|src\/storage\/schema)/m.test(files)) touched.push(object)
      }
      return touched
    },
    code: `const log = await tools.git_log({ max_count: 15, format: '%h' })
const found = await Promise.all(log.trim().split('\\n').map(async (object) => {
  const files = await tools.git_show({ object, name_only: true, format: '%s' })
  return /^(migrations|src\\/storage\\/schema)/m.test(files) ? [object] : []
}))
return found.flat()`,
  },
  {
    title: 'the five longest TypeScript files below src/operations, with their numbers of lines',
    async byCalls(call) {
      const files = lines(await call('git_ls_files', { paths: ['src/operations'] })).filter(
        (file) => !file.includes('.test.'),
      )
      const counts = []
      for (let at = 0; at < files.length; at += 25)
        counts.push(...lines(await call('coreutils_wc', { files: files.slice(at, at + 25), lines: true })))
      return longest(counts)
    },
    code: `const files = (await tools.git_ls_files({ paths: ['src/operations'] })).trim().split('\\n').filter((file) => !file.includes('.test.'))
const counts: string[] = []
for (let at = 0; at < files.length; at += 25)
  counts.push(...(await tools.coreutils_wc({ files: files.slice(at, at + 25), lines: true })).trim().split('\\n'))
return counts.map((line) => line.trim().split(' ')).filter(([, file]) => file !== 'total')
  .sort((a, b) => Number(b[0]) - Number(a[0])).slice(0, 5).map(([count, file]) => file + ' ' + count)`,
  },
  {
    title: 'the dependencies that no file of src imports',
    async byCalls(call) {
      const { dependencies } = JSON.parse(await call('coreutils_cat', { files: ['package.json'] }))
      const unused = []
      for (const name of Object.keys(dependencies)) {
        const pattern = `'${name}`
        const hits = await call('git_grep', { pattern, fixed: true, files_only: true, paths: ['src'] }, true)
        if (hits === '') unused.push(name)
      }
      return unused
    },
    code: `const { dependencies } = JSON.parse(await tools.coreutils_cat({ files: ['package.json'] }))
const unused = await Promise.all(Object.keys(dependencies).map(async (name) => {
  const hits = await tools.git_grep({ pattern: "'" + name, fixed: true, files_only: true, paths: ['src'] }).catch(() => '')
  return hits.trim() === '' ? [name] : []
}))
return unused.flat()`,
  },
  {
    title: 'the file that changed most often in the last 40 commits, and its authors',
    async byCalls(call) {
      const names = await call('git_log', { max_count: 40, format: 'commit %h', stat: true })
      const [top] = mostChanged(names)
      const authors = await call('git_log', { paths: [top], format: '%an', max_count: 100 })
      return [top, [...new Set(lines(authors))].sort()]
    },
    code: `const stat = await tools.git_log({ max_count: 40, format: 'commit %h', stat: true })
const counts = new Map<string, number>()
for (const [, file] of stat.matchAll(/^ (\\S+) +\\|/gm)) counts.set(file, (counts.get(file) ?? 0) + 1)
const [top] = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))[0]
const authors = await tools.git_log({ paths: [top], format: '%an', max_count: 100 })
return [top, [...new Set(authors.trim().split('\\n'))].sort()]`,
  },
  {
    title: 'the guides without a link to any other guide',
    async byCalls(call) {
      const guides = lines(await call('git_ls_files', { paths: ['docs/guides'] }))
      const alone = []
      for (const file of guides) {
        const text = await call('coreutils_cat', { files: [file] })
        if (!guides.some((other) => other !== file && text.includes(`(${other.split('/').at(-1)}`))) alone.push(file)
      }
      return alone
    },
    code: `const guides = (await tools.git_ls_files({ paths: ['docs/guides'] })).trim().split('\\n')
const alone = await Promise.all(guides.map(async (file) => {
  const text = await tools.coreutils_cat({ files: [file] })
  return guides.some((other) => other !== file && text.includes('(' + other.split('/').at(-1))) ? [] : [file]
}))
return alone.flat()`,
  },
]

const longest = (counts) =>
  counts
    .map((line) => line.trim().split(' '))
    .filter(([, file]) => file !== 'total')
    .sort((a, b) => Number(b[0]) - Number(a[0]))
    .slice(0, 5)
    .map(([count, file]) => `${file} ${count}`)

function mostChanged(stat) {
  const counts = new Map()
  for (const [, file] of stat.matchAll(/^ (\S+) +\|/gm)) counts.set(file, (counts.get(file) ?? 0) + 1)
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))[0]
}

/** The tokens that a model writes and reads for one task, and the number of its requests. */
class Count {
  written = 0
  read = 0
  trips = 0

  add(args, text) {
    this.written += tokens(args)
    this.read += tokens(text)
    this.trips += 1
  }
}

const request = async (peer, name, args) => (await peer.request('tools/call', { name, arguments: args })).result

async function measure(peer, { title, byCalls, code }) {
  const [calls, program] = [new Count(), new Count()]
  const expected = await byCalls(async (name, args, mayFail = false) => {
    const result = await request(peer, 'call_tool', { name, arguments: args })
    assert.ok(mayFail || result.isError !== true, result.content[0].text)
    calls.add({ name, arguments: args }, result.content[0].text)
    return result.isError === true ? '' : result.structuredContent.stdout
  })
  const result = await request(peer, 'run_code', { code })
  program.add({ code }, result.content[0].text)
  assert.deepEqual(result.structuredContent.output, expected, title)
  const total = (count) => count.written + count.read
  return [
    title,
    calls.trips,
    program.trips,
    `${calls.written} + ${calls.read}`,
    `${program.written} + ${program.read}`,
    `${(total(calls) / total(program)).toFixed(1)}×`,
  ]
}

const times = async (count, work) => {
  const all = []
  for (let at = 0; at < count; at++) {
    const started = performance.now()
    await work()
    all.push(performance.now() - started)
  }
  return all
}

/** One program with five calls at once and in a row, against five calls of the same tool. */
async function measureTime(peer) {
  const echo = (message) => request(peer, 'call_tool', { name: 'coreutils_echo', arguments: { message } })
  const run = (code) => request(peer, 'run_code', { code })
  const five = [1, 2, 3, 4, 5]
  const cold = await times(1, () => run('return 1'))
  const inRow = `for (const n of [${five}]) await tools.coreutils_echo({ message: String(n) })`
  const atOnce = `await Promise.all([${five}].map((n) => tools.coreutils_echo({ message: String(n) })))`
  const rows = [
    [
      'five calls, one after the other',
      () => five.reduce((last, n) => last.then(() => echo(String(n))), Promise.resolve()),
    ],
    ['five calls at once', () => Promise.all(five.map((n) => echo(String(n))))],
    ['one program with five calls, one after the other', () => run(inRow)],
    ['one program with five calls at once', () => run(atOnce)],
    ['one program without a call', () => run('return 1')],
  ]
  const measured = []
  for (const [title, work] of rows) {
    await times(5, work)
    const all = await times(30, work)
    measured.push([title, ms(median(all)), ms(percentile(all, 0.95))])
  }
  return `${table(['over stdio', 'p50', 'p95'], measured)}\n\nThe first program of a process takes ${ms(cold[0])}: the thread, the engine and the type stripper are loaded.`
}

export async function run() {
  process.chdir(folder)
  const open = async (...flags) => {
    const peer = new RawPeer([main, 'run', '--no-registry', ...flags, 'git', 'coreutils'], { TOOLDEX_LEARNING: 'off' })
    await peer.open()
    return peer
  }
  const plain = await open()
  const three = tokens((await plain.request('tools/list')).result.tools)
  await plain.close()
  const peer = await open('--code-mode')
  const four = tokens((await peer.request('tools/list')).result.tools)
  const rows = []
  for (const task of tasks) rows.push(await measure(peer, task))
  const time = await measureTime(peer)
  await peer.close()
  const head = [
    'task',
    'round trips, calls',
    'round trips, program',
    'tokens written + read, calls',
    'tokens written + read, program',
    'tokens saved',
  ]
  return `Both ways give the same result, which the benchmark checks; the tools are those of the configs git and coreutils, on this repository. Tokens are those of the arguments that the model writes and the answers that it reads (cl100k); finding the tools costs the same both ways and is not counted. The fourth tool costs ${four - three} tokens at rest (${three} without it).\n\n${table(head, rows)}\n\n${time}`
}
