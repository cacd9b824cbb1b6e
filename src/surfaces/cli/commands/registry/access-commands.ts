import { toOneLine } from '../../../../base/invisible-characters.ts'
import { type Limit, limitMeasures } from '../../../../contract/policy.ts'
import { toProblemError } from '../../../../diagnostics/problem-error.ts'
import { writeYaml } from '../../../../documents/write-yaml.ts'
import * as limits from '../../../../operations/registry/limits.ts'
import * as toolsets from '../../../../operations/registry/toolsets.ts'
import { readBundlePart, writeToolset } from '../../../../sources/bundle/index.ts'
import type { CliHost } from '../../host.ts'
import { readText } from '../../read-tool-file.ts'
import type { AddCommand } from '../command.ts'
import { operationCommands, tableText } from '../operation-command.ts'
import { findingText } from './registry-command.ts'

/** `tooldex toolsets ...`: saved filters of tools with their own endpoints. */
export const addToolsets: AddCommand = (program, host) => {
  const add = operationCommands(program.command('toolsets'), host)
  add({
    line: 'list',
    operation: toolsets.listToolsets,
    text: tableText(
      {
        Name: ({ name }) => name,
        Mode: ({ mode }) => mode,
        Filter: ({ filter }) => filterText(filter),
        Callers: ({ callers }) => callers?.join(' ') ?? 'all',
        Endpoint: ({ name }) => `/mcp/${name}`,
      },
      'No toolsets. Store one with: tooldex toolsets set NAME FILE',
    ),
  })
  add({
    line: 'get <name>',
    operation: toolsets.getToolset,
    text: ({ name, filter = {}, ...toolset }) => writeYaml(writeToolset({ name, filter, ...toolset })),
  })
  add({
    line: 'show <name>',
    about: 'list the tools of a toolset with the tokens of each definition',
    operation: toolsets.listToolsetTools,
    text: (answer, shown) => {
      const rows = tableText<(typeof answer.items)[number]>(
        {
          Tool: ({ name }) => name,
          Tokens: ({ tokens }) => tokens,
          State: ({ readiness }) => readiness?.state ?? 'ready',
          Description: ({ description }) => toOneLine(description),
        },
        'The toolset has no tools now.',
      )(answer, shown)
      return answer.items.length === 0
        ? rows
        : `${rows}${answer.items.length} tools, ${answer.tokens} tokens in the mode classic\n`
    },
  })
  add({
    line: 'set <name> <file>',
    about: 'store the toolset in a YAML file under a name, or replace the stored one',
    operation: toolsets.putToolset,
    prepare: ({ name, file }) => ({ ...readToolset(host, String(file)), name }),
    text: ({ name }) => `${name} is stored, and served at /mcp/${name}.\n`,
  })
  add({ line: 'delete <name>', operation: toolsets.deleteToolset, text: ({ name }) => `${name} is deleted.\n` })
}

/** `tooldex limits ...`: rate limits and daily budgets. */
export const addLimits: AddCommand = (program, host) => {
  const add = operationCommands(program.command('limits'), host)
  add({
    line: 'list',
    operation: limits.listLimits,
    isDefault: true,
    text: ({ items }, shown) =>
      tableText<Row>(
        {
          Name: ({ name }) => name,
          'Applies to': (limit) => subjectText(limit),
          Counted: ({ subject }) => subject || 'together',
          'Used of maximum': ({ used, ...limit }) => useText(limit, used),
        },
        'No limits. Set one with: tooldex limits set NAME --caller KEY --calls-per-minute 60',
      )({ items: items.flatMap(toRows) }, shown),
  })
  add({ line: 'get <name>', operation: limits.getLimit, text: (limit) => writeYaml(limit) })
  add({
    line: 'set <name>',
    operation: limits.putLimit,
    options: [
      '--caller <name>',
      '--tool <name>',
      '--toolset <name>',
      '--calls-per-minute <n>',
      '--calls-per-day <n>',
      '--seconds-per-day <n>',
      '--bytes-per-day <n>',
      '--tokens-per-day <n>',
    ],
    text: ({ name }) => `${name} is set.\n`,
  })
  add({ line: 'delete <name>', operation: limits.deleteLimit, text: ({ name }) => `${name} is deleted.\n` })
}

type UsedLimit = Awaited<ReturnType<typeof limits.listLimits.handle>>['items'][number]
type Row = Limit & UsedLimit['usage'][number]

/** One row for each counter; a limit without any has one that is unused. */
const toRows = ({ usage, ...limit }: UsedLimit): readonly Row[] =>
  (usage.length === 0 ? [{ subject: '', used: {} }] : usage).map((use) => ({ ...limit, ...use }))

const subjectText = (limit: Limit): string =>
  (['caller', 'tool', 'toolset'] as const)
    .flatMap((field) => (limit[field] === undefined ? [] : [`${field} ${limit[field]}`]))
    .join(', ') || 'all calls'

const useText = (limit: Limit, used: Row['used']): string =>
  limitMeasures
    .flatMap((measure) => (limit[measure] === undefined ? [] : [`${used[measure] ?? 0}/${limit[measure]} ${measure}`]))
    .join(', ')

/** Reads a file with one toolset, as `tooldex apply` reads it. */
function readToolset(host: CliHost, path: string) {
  const file = path === '-' ? 'stdin' : path
  const { bundle, problems } = readBundlePart(readText(path), { file, format: 'toolset' })
  const errors = problems.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw toProblemError({ code: 'BUNDLE_INVALID', what: file, problems })
  for (const warning of problems) host.err(findingText(warning))
  return bundle.toolsets[0] as object
}

const filterText = (filter: object = {}): string => {
  const parts = Object.entries(filter).map(([field, values]) => `${field}=${[values].flat().join(',')}`)
  return parts.join(' ') || 'all tools'
}
