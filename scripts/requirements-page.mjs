// Builds docs/requirements.md: the requirements and fault cases with the tests that carry their numbers.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const requirements = {
  'FR-001': 'A config has an optional category',
  'FR-002': 'A config has optional tags',
  'FR-003': 'Configs without category and tags load unchanged',
  'FR-004': 'The index is built from all loaded configs',
  'FR-005': 'An index entry has name, description, config, category, tags and input schema',
  'FR-006': 'Search takes an optional query, category, config and limit',
  'FR-007': 'The query matches all text fields; category and config match exactly, ignoring case',
  'FR-008': 'Filters are combined with AND',
  'FR-009': 'Results are limited, 10 by default, in load order',
  'FR-010': 'The summary lists configs with tool count, category and tags',
  'FR-011': 'A tool is resolved by its exact name, or null',
  'FR-012': 'An index entry serializes to JSON and back',
  'FR-013': 'Every entry is found by any part of its text',
  'FR-014': 'The classic mode lists every tool directly',
  'FR-015': 'The index has no third-party dependency',
  'SC-001': 'Existing configs load and run without a change',
  'SC-002': 'The earlier test cases still pass',
  'SC-003': 'A search takes less than 50 ms',
  'SC-004': 'One search and one lookup lead from a question to a runnable tool',
  'SC-005': 'A search result is sufficient to build a valid call',
  'SC-006': 'The index is read-only, with three queries',
}

/** The groups of the fault catalog: title, first and last number. */
const faultGroups = [
  ['Invalid configs', 1, 15],
  ['Invalid API input', 16, 39],
  ['Protocol abuse over MCP', 40, 56],
  ['Faults of running tools', 57, 65],
  ['Crashes and restarts', 66, 74],
  ['Concurrent changes', 75, 82],
  ['Database faults', 83, 90],
  ['Load and soak', 91, 96],
  ['Faults of upstream MCP servers', 97, 109],
  ['Authentication and authorization', 110, 120],
  ['Sandbox escapes', 121, 134],
  ['Requests to HTTP services', 135, 143],
]
const lettered = { 65: ['65b', '65c', '65d', '65e', '65f'] }

/** The capabilities that are not built yet, with the cases that belong to them. */
const planned = {
  'web console': '36 37'.split(' '),
}

/** The string literals that are the first argument of a call, with substitutions shown as an ellipsis. */
function titlesOf(source) {
  const literals = source.matchAll(/\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1\s*,/g)
  const titles = Array.from(literals, ([, , text]) => text.replace(/\$\{[^}]*\}/g, '…').replace(/\\(.)/g, '$1'))
  const attacks = source.matchAll(/\bnumber: (\d+),[^}]*?\btries: '([^']+)'/g)
  return [...titles, ...Array.from(attacks, ([, number, tries]) => `fault ${number}: a script tries to ${tries}`)]
}

/** The ids that a test title carries, and the title without the numbers of faults. */
function readTitle(title) {
  const named = title.match(/\b(?:FR|SC)-\d{3}\b/g)
  if (named) return { ids: named, text: title.replace(/^(?:FR|SC)-\d{3}: /, '') }
  const [prefix, list, rest = ''] =
    title.match(/^(?:faults? )?(\d{1,3}[b-f]?(?:(?:, | and )\d{1,3}[b-f]?)*)( \([^)]*\))?: /) ?? []
  if (prefix === undefined) return { ids: [], text: title }
  return { ids: list.split(/, | and /), text: `${rest.trim()} ${title.slice(prefix.length)}`.trim() }
}

/** The tests of each id: id -> file -> titles. */
function readTests(root) {
  const tests = new Map()
  const names = (folder) => readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  const files = [
    ...names('tests')
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join('tests', name)),
    ...names('src')
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join('src', name)),
  ]
  for (const file of files.sort()) {
    for (const title of titlesOf(readFileSync(join(root, file), 'utf8'))) {
      const { ids, text } = readTitle(title)
      for (const id of ids) {
        const inFiles = tests.get(id) ?? new Map()
        tests.set(id, inFiles.set(file, [...new Set([...(inFiles.get(file) ?? []), text])]))
      }
    }
  }
  return tests
}

const inCell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;')

function rowsOf(id, tests) {
  const files = tests.get(id)
  if (!files) return [`| ${id} | none | |`]
  return [...files].map(([file, titles], index) => {
    return `| ${index === 0 ? id : ''} | \`${file}\` | ${titles.map(inCell).join('<br>')} |`
  })
}

/** The page, from the test files below a folder; throws for a test that carries an unknown number. */
export function requirementsPage(root) {
  const tests = readTests(root)
  const table = (head, ids) =>
    [`| ${head} | file | tests |`, '| --- | --- | --- |', ...ids.flatMap((id) => rowsOf(id, tests))].join('\n')
  const groups = faultGroups.map(([title, first, last]) => {
    const numbers = Array.from({ length: last - first + 1 }, (_, index) => String(first + index))
    return { title, ids: numbers.flatMap((number) => [number, ...(lettered[number] ?? [])]) }
  })
  const known = [...Object.keys(requirements), ...groups.flatMap(({ ids }) => ids)]
  const unknown = [...tests.keys()].filter((id) => !known.includes(id))
  if (unknown.length > 0) throw new Error(`Tests carry unknown requirement numbers: ${unknown.join(', ')}`)
  const missing = known.filter((id) => !tests.has(id))
  const open = Object.entries(planned).map(([capability, ids]) => [
    capability,
    ids.filter((id) => missing.includes(id)),
  ])
  const other = missing.filter((id) => !Object.values(planned).flat().includes(id))
  const gaps = [...open.map(([capability, ids]) => [`${capability} (not built yet)`, ids]), ['other', other]]
  return [
    '# Requirements and their tests',
    'The requirements of the tool index (FR, SC) and the numbered cases of the fault catalog, with the tests that carry their number in the title. `…` stands for a parameter of the test.',
    '## Without a test',
    [
      '| capability | ids |',
      '| --- | --- |',
      ...gaps.map(([name, ids]) => `| ${name} | ${ids.join(', ') || 'none'} |`),
    ].join('\n'),
    '## Requirements',
    [
      '| id | requirement |',
      '| --- | --- |',
      ...Object.entries(requirements).map(([id, title]) => `| ${id} | ${title} |`),
    ].join('\n'),
    table('id', Object.keys(requirements)),
    '## Faults',
    ...groups.flatMap(({ title, ids }) => [`### ${title} (${ids[0]} to ${ids.at(-1)})`, table('fault', ids)]),
  ]
    .join('\n\n')
    .concat('\n')
}
