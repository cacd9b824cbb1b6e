import { expect } from 'vitest'
import type { TestServer } from './start-server.ts'
import { tempScript } from './temp-folder.ts'

interface RegisteredOptions {
  /** What runs; `$1` is the first argument. */
  readonly script: string
  readonly annotations?: Readonly<Record<string, unknown>>
  readonly outputSchema?: Readonly<Record<string, unknown>>
  readonly status?: 'DRAFT' | 'ACTIVE'
  readonly more?: Readonly<Record<string, unknown>>
}

/** A registered tool that takes a word and a number and hands both to a shell script. */
export function scriptTool(
  name: string,
  { script, annotations, outputSchema, more = {} }: RegisteredOptions,
  folder: string,
) {
  return {
    name,
    displayName: name,
    description: `Says what ${name} says.`,
    inputSchema: {
      type: 'object',
      properties: { word: { type: 'string' }, count: { type: 'integer', default: 1 } },
      required: ['word'],
      additionalProperties: false,
    },
    executorType: 'cli',
    executorConfig: {
      baseCommand: tempScript(`${name}.sh`, `#!/bin/sh\n${script}\n`, folder),
      args: [
        { name: 'word', positional: true },
        { name: 'count', type: 'integer', positional: true },
      ],
    },
    ...(annotations === undefined ? {} : { annotations }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...more,
  }
}

/** Registers such a tool at a server, active where nothing else is said. */
export async function registerScript(server: TestServer, name: string, options: RegisteredOptions) {
  const made = await server.request('POST', '/tools', { body: scriptTool(name, options, server.scripts) })
  expect(made.status, made.text).toBe(201)
  if (options.status !== 'DRAFT') expect((await server.request('POST', `/tools/${name}/activate`)).status).toBe(200)
  return made.body
}
