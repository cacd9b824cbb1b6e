import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { register } from './rest.ts'
import type { TestAnswer, TestServer } from './start-server.ts'
import { tempScript } from './temp-folder.ts'

/** Commands that leave a trace of every run: a line when it begins, one when it ends. */
export class TracedTools {
  readonly #file: string
  readonly #gate: string
  readonly #script: string

  constructor(folder: string) {
    this.#file = join(folder, 'trace')
    this.#gate = join(folder, 'gate')
    const text = `#!/bin/sh
echo "begin $1" >> ${this.#file}
echo "half of $1"
sleep "$2"
echo "end $1" >> ${this.#file}
echo "whole of $1"
`
    this.#script = tempScript('traced', text, folder)
  }

  /** Registers one; `safe` ones may be tried again. */
  async register(server: TestServer, name: string, { safe = false, seconds = 0.2, more = {} } = {}): Promise<void> {
    await registerCommand(server, name, this.#script, {
      annotations: safe ? { readOnlyHint: true } : {},
      args: [
        { name: 'mark', positional: 1 },
        { name: 'seconds', positional: 2, type: 'number', default: seconds },
      ],
      properties: { mark: { type: 'string' }, seconds: { type: 'number' } },
      ...more,
    })
  }

  /** Registers one whose runs last until `release`, however slow the machine is. */
  async registerHeld(server: TestServer, name: string, { safe = false } = {}): Promise<void> {
    const text = `#!/bin/sh
echo "begin $1" >> ${this.#file}
until [ -e ${this.#gate} ]; do sleep 0.05; done
echo "end $1" >> ${this.#file}
echo "$1"
`
    await registerCommand(server, name, tempScript(`held-${name}`, text, dirname(this.#file)), {
      annotations: safe ? { readOnlyHint: true } : {},
      args: [{ name: 'mark', positional: 1 }],
      properties: { mark: { type: 'string' } },
      config: { timeoutMs: 300_000 },
    })
  }

  /** Lets held runs end, those that begin later too. */
  release(): void {
    writeFileSync(this.#gate, '')
  }

  /** Holds the runs that begin after a release. */
  hold(): void {
    rmSync(this.#gate, { force: true })
  }

  /** One that only leaves its trace and says its mark. */
  async registerQuick(server: TestServer, name: string): Promise<void> {
    const text = `#!/bin/sh\necho "begin $1" >> ${this.#file}\necho "$1"\n`
    await registerCommand(server, name, tempScript('quick', text, dirname(this.#file)), {
      args: [{ name: 'mark', positional: 1 }],
      properties: { mark: { type: 'string' } },
    })
  }

  /** How often a call was begun, and ended by itself. */
  count(mark: string): { begun: number; ended: number } {
    const lines = this.#lines()
    const of = (what: string) => lines.filter((line) => line === `${what} ${mark}`).length
    return { begun: of('begin'), ended: of('end') }
  }

  /** All calls that were begun, in their order. */
  begun(): readonly string[] {
    return this.#lines().flatMap((line) => (line.startsWith('begin ') ? line.slice(6) : []))
  }

  /** The most calls that ran together: each writes its first line after it began and its last before it ends. */
  maxTogether(): number {
    let running = 0
    return Math.max(
      ...this.#lines().map((line) => {
        if (line.startsWith('begin ')) running += 1
        if (line.startsWith('end ')) running -= 1
        return running
      }),
    )
  }

  #lines(): readonly string[] {
    return existsSync(this.#file) ? readFileSync(this.#file, 'utf8').split('\n') : []
  }
}

interface CommandOptions {
  readonly annotations?: object
  readonly args?: readonly object[]
  readonly properties?: object
  readonly config?: object
}

/** Registers a command as an active tool. */
export async function registerCommand(
  server: TestServer,
  name: string,
  baseCommand: string,
  { annotations = {}, args = [], properties = {}, config = {} }: CommandOptions = {},
): Promise<void> {
  await register(server, name, {
    executorType: 'cli',
    annotations,
    inputSchema: { type: 'object', properties },
    executorConfig: { baseCommand, args, ...config },
  })
  const answer = await server.request('POST', `/tools/${name}/activate`)
  expect(answer.status, answer.text).toBe(200)
}

/** Calls a tool over HTTP. */
export const execute = (
  server: TestServer,
  tool: string,
  input: object,
  more: { wait?: boolean; traceId?: string; idempotencyKey?: string; timeoutMs?: number; key?: string } = {},
): Promise<TestAnswer> => {
  const { key, ...body } = more
  return server.request('POST', `/tools/${tool}/execute`, {
    body: { input, ...body },
    ...(key === undefined ? {} : { key }),
  })
}

/** Waits until a run has ended. */
export async function untilEnded(server: TestServer, id: string, withinMs = 120_000) {
  for (const end = Date.now() + withinMs; ; await sleep(50)) {
    const { body } = await server.request('GET', `/executions/${id}`)
    if (!['PENDING', 'RUNNING'].includes(body.status)) return body
    if (Date.now() > end) throw new Error(`the run did not end: ${JSON.stringify(body)}`)
  }
}

/** Waits until nothing waits or runs any more. */
export async function untilQuiet(server: TestServer, withinMs = 120_000): Promise<void> {
  for (const end = Date.now() + withinMs; ; await sleep(100)) {
    const { body } = await server.request('GET', '/executions?status=PENDING&status=RUNNING&limit=1')
    if (body.items?.length === 0) return
    if (Date.now() > end) throw new Error(`something still waits or runs: ${JSON.stringify(body)}`)
  }
}
