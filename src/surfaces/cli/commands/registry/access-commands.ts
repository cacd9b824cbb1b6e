import { toOneLine } from '../../../../base/visible-text.ts'
import { toProblemError } from '../../../../diagnostics/problem-error.ts'
import { writeYaml } from '../../../../documents/write-yaml.ts'
import * as toolsets from '../../../../operations/registry/toolsets.ts'
import { type BundleFormat, readBundlePart, writeToolset } from '../../../../sources/bundle/index.ts'
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
    prepare: ({ name, file }) => ({ ...readDefinition(host, String(file), 'toolset'), name }),
    text: ({ name }) => `${name} is stored, and served at /mcp/${name}.\n`,
  })
  add({ line: 'delete <name>', operation: toolsets.deleteToolset, text: ({ name }) => `${name} is deleted.\n` })
}

/** Reads a file with one definition, as `tooldex apply` reads it. */
function readDefinition(host: CliHost, path: string, format: BundleFormat & ('toolset' | 'limit')) {
  const file = path === '-' ? 'stdin' : path
  const { bundle, problems } = readBundlePart(readText(path), { file, format })
  const errors = problems.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw toProblemError({ code: 'BUNDLE_INVALID', what: file, problems })
  for (const warning of problems) host.err(findingText(warning))
  return bundle[`${format}s`][0] as object
}

const filterText = (filter: object = {}): string => {
  const parts = Object.entries(filter).map(([field, values]) => `${field}=${[values].flat().join(',')}`)
  return parts.join(' ') || 'all tools'
}
