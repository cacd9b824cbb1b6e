// Writes docs/reference, docs/requirements.md and the routes of the client from the code. With --check it only reports pages that are not current.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { errorTable } from '../dist/base/errors.js'
import { operations } from '../dist/operations/index.js'
import { allowedValues, settingTable } from '../dist/rules/settings.js'
import { createProgram } from '../dist/surfaces/cli/index.js'
import { clientRoutes } from './client-routes.mjs'
import { recordFromServer } from './record-examples.mjs'
import { requirementsPage } from './requirements-page.mjs'

const root = fileURLToPath(new URL('../', import.meta.url))
const note = '<!-- Written by `npm run docs`; edit the code, not this file. -->\n\n'
const table = (header, rows) =>
  [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
const inCell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ')

function errorsPage() {
  const rows = Object.entries(errorTable).map(([code, row]) => [
    `\`${code}\``,
    row.http,
    row.exit,
    row.retry ? 'yes' : 'no',
    inCell(row.hint),
  ])
  return `# Errors\n\nAll error codes. A failed tool is not an error: it is a result with a status: its code is in the execution, which is answered with 200. Where there is no execution (a dry run, the reading of a source), REST answers such a code with 424.\n\n${table(['code', 'HTTP', 'exit code', 'retryable', 'hint'], rows)}\n`
}

function settingsPage() {
  const rows = Object.entries(settingTable).map(([name, setting]) => [
    `\`${name}\``,
    allowedValues(setting),
    setting.fallback ?? `\`${setting.type === 'switch' ? (setting.default ? 'on' : 'off') : setting.default}\``,
    inCell(setting.description) + (setting.isSecret ? ' (secret)' : ''),
  ])
  const text = [
    'All environment variables that Tooldex reads. An empty variable is unset. `on` is also written `1`, `true` or `yes`, and `off`',
    '`0`, `false` or `no`. An invalid value prevents the start of `serve` and `worker`; an unknown `TOOLDEX_` variable is logged.',
    'Settings whose name begins with `TOOLDEX_`, and secret ones, are never passed to a tool; secret values are redacted.',
    '',
    'Other programs and libraries read their own variables: `NO_COLOR` and `FORCE_COLOR` (colors), `VISUAL` and `EDITOR` (`tools edit`),',
    '`OTEL_*` (an OpenTelemetry SDK loaded with `node --import`), `PIP_*` (`envs build`).',
  ]
  return `# Settings\n\n${text.join('\n')}\n\n${table(['variable', 'value', 'default', 'meaning'], rows)}\n`
}

function typeOf(schema) {
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(' \\| ')
  if (schema.anyOf) return [...new Set(schema.anyOf.filter((one) => one.type !== 'null').map(typeOf))].join(' \\| ')
  if (Array.isArray(schema.type)) return schema.type.filter((type) => type !== 'null').join(' \\| ')
  return schema.type === 'array' ? `array of ${schema.items ? typeOf(schema.items) : 'any'}` : (schema.type ?? 'any')
}

function operationsPage() {
  const parts = operations.map(({ name, summary, scope, input }) => {
    const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' })
    const rows = Object.entries(schema.properties ?? {}).map(([key, property]) => {
      const required = schema.required?.includes(key) ? 'yes' : ''
      return [
        `\`${key}\``,
        typeOf(property),
        required,
        property.default === undefined ? '' : `\`${JSON.stringify(property.default)}\``,
      ]
    })
    const body = rows.length === 0 ? 'No input.' : table(['input', 'type', 'required', 'default'], rows)
    return `## ${name}\n\n${summary} Scope: \`${scope}\`.\n\n${body}\n`
  })
  return `# Operations\n\nAll operations. REST, MCP and the command line are renderings of this list.\n\n${parts.join('\n')}`
}

async function commandsPage() {
  let text = ''
  const host = { version: '0', out: () => {}, err: () => {}, configNames: () => [], columns: 100 }
  const program = await createProgram(host, () => {})
  const write = (command, path) => {
    if (command._hidden) return
    const help = command.createHelp()
    help.helpWidth = 100
    text += `## ${path}\n\n\`\`\`\n${help.formatHelp(command, help).trim()}\n\`\`\`\n\n`
    for (const inner of command.commands) write(inner, `${path} ${inner.name()}`)
  }
  for (const command of program.commands) write(command, `tooldex ${command.name()}`)
  return `# Command line\n\n${text.trimEnd()}\n`
}

const pages = {
  'docs/reference/errors.md': note + errorsPage(),
  'docs/reference/settings.md': note + settingsPage(),
  'docs/reference/operations.md': note + operationsPage(),
  'docs/reference/command-line.md': note + (await commandsPage()),
  'docs/requirements.md': note + requirementsPage(root),
  'src/operations/methods/routes.ts': clientRoutes(),
}
const check = process.argv.includes('--check')
mkdirSync(`${root}docs/reference`, { recursive: true })
for (const [name, text] of Object.entries(pages)) {
  const path = root + name
  const same = existsSync(path) && readFileSync(path, 'utf8') === text
  if (check && !same) {
    console.error(`${name} is not current: run npm run docs`)
    process.exitCode = 1
  } else if (!same) writeFileSync(path, text)
}
if (!check) {
  const examples = await recordFromServer()
  writeFileSync(`${root}docs/reference/examples.json`, `${JSON.stringify(examples, null, 2)}\n`)
}
