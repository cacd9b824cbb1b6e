import { hostileSchema, hostileText, hostileValue, paths } from './hostile.ts'
import type { Random } from './random.ts'

export const toolNames = ['echo_text', 'strict_text', 'deep_choice', 'fetch_items', 'print_much'] as const

const base = (name: string, more: object): Record<string, unknown> => ({
  name,
  displayName: name,
  description: `A tool called ${name} that does one thing.`,
  executorType: 'http',
  inputSchema: { type: 'object' },
  executorConfig: { method: 'GET', url: 'https://example.com/' },
  ...more,
})

/** A tool as somebody might register it, with a schema that is up to no good. */
export function toolDraft(random: Random): Record<string, unknown> {
  const name = random.chance(0.3) ? random.pick(toolNames) : `made_${random.below(300)}`
  return base(name, {
    inputSchema: hostileSchema(random),
    outputSchema: random.chance(0.3) ? hostileSchema(random) : {},
    tags: ['made'],
    ...(random.chance(0.4) ? { examples: [{ description: 'one', args: { text: hostileValue(random) } }] } : {}),
    ...(random.chance(0.2) ? { description: hostileText(random) } : {}),
    ...(random.chance(0.2)
      ? { executorConfig: { method: 'GET', url: 'https://example.com/{text}', response: { path: random.pick(paths) } } }
      : {}),
  })
}

/** A tool that asks a service. */
export const httpTool = (random: Random): Record<string, unknown> =>
  base(`http_${random.below(300)}`, { description: 'Ask a service for its items.' })

/** The tools of a workspace, all marked as its own; `service` answers with a large document. */
export const ownTools = (mark: string, service: string): readonly Record<string, unknown>[] => [
  base('echo_text', {
    description: `Echo a text. ${mark}`,
    tags: [`tag-${mark}`],
    notes: mark,
    executorType: 'cli',
    executorConfig: { baseCommand: 'echo', args: [{ name: 'text', positional: true }] },
    inputSchema: { type: 'object', properties: { text: { type: 'string', maxLength: 100_000 } } },
  }),
  base('strict_text', {
    description: `Take a text of one form only. ${mark}`,
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string', pattern: '(?:a|aa|aaa|aaaa){1,500}$' } },
    },
  }),
  base('deep_choice', {
    description: `Choose among many. ${mark}`,
    inputSchema: {
      type: 'object',
      properties: { text: { $ref: '#/$defs/d18' } },
      $defs: Object.fromEntries(
        Array.from({ length: 19 }, (_, level) => [
          `d${level}`,
          level === 0
            ? { type: 'integer' }
            : { anyOf: [{ $ref: `#/$defs/d${level - 1}` }, { $ref: `#/$defs/d${level - 1}` }] },
        ]),
      ),
    },
  }),
  base('fetch_items', {
    description: `Fetch items. ${mark}`,
    executorConfig: { method: 'GET', url: service, allowPrivate: true, response: { type: 'json', path: '$..[?@..c]' } },
  }),
  base('print_much', {
    description: `Print much. ${mark}`,
    executorType: 'cli',
    executorConfig: {
      baseCommand: 'seq',
      args: [{ name: 'count', type: 'integer', positional: true, default: 60000 }],
    },
    inputSchema: { type: 'object', properties: { count: { type: 'integer', default: 60000, maximum: 200000 } } },
  }),
]
