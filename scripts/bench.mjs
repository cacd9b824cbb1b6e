// Runs the benchmarks named (or all) and writes their tables into benchmarks/README.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'

const all = [
  'startup',
  'command-cpu',
  'call',
  'sandbox',
  'tool-index',
  'tokens',
  'tasks',
  'search-speed',
  'search-quality',
  'registry',
  'runs',
  'python',
  'http',
  'mcp',
  'gateway',
  'upstreams',
  'code-mode',
  'console',
  'scaling',
  'simulation',
]
const wanted = process.argv.slice(2)
const pages = ['../benchmarks/README.md', '../README.md'].map((path) => new URL(path, import.meta.url))

for (const name of all.filter((one) => wanted.length === 0 || wanted.includes(one))) {
  process.stderr.write(`${name}...\n`)
  const { run } = await import(`../benchmarks/${name}.mjs`)
  const result = await run()
  const where = `Measured ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model.trim()}).`
  const section = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`)
  for (const page of pages) {
    const text = readFileSync(page, 'utf8')
    writeFileSync(
      page,
      text.replace(section, (_, open, close) => `${open}${result}\n\n${where}\n${close}`),
    )
  }
  process.stdout.write(`${result}\n\n`)
}
