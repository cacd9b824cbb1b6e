import { setTimeout as sleep } from 'node:timers/promises'
import { pick } from './random.ts'
import type { Site } from './site.ts'

/** What callers were told; the promises are checked against it. */
export interface History {
  /** Executions that were acknowledged: the word that was given, and the final state that was told, if any was. */
  readonly acknowledged: Map<string, { readonly word: string; readonly tool: string; readonly status?: string }>
  /** Changes of the tool that were acknowledged. */
  changes: number
  calls: number
  readonly refusals: Map<string, number>
}

const kinds = { sync: 5, queue: 4, cancel: 1, key: 1, change: 1, wrong: 1 } as const
const tools = { note: 6, slow: 3, fail: 1, late: 0.3, big: 0.5 } as const

interface CallerOptions {
  readonly name: string
  readonly until: number
  readonly pauseMs: number
  readonly minAcknowledged?: number | undefined
}

/** One caller that calls, queues, cancels, repeats and changes things until it is told to stop. */
export async function callUntil(
  site: Site,
  history: History,
  random: () => number,
  { name, until, pauseMs, minAcknowledged = 0 }: CallerOptions,
): Promise<void> {
  for (let count = 0; Date.now() < until || history.acknowledged.size < minAcknowledged; count++) {
    const server = site.servers()[random() < 0.5 ? 0 : 1]
    const call = { word: `${name}-${count}`, tool: pick(random, tools), kind: pick(random, kinds) }
    history.calls++
    try {
      await make(server, history, call)
    } catch (error) {
      note(history, (error as { cause?: { code?: string } }).cause?.code ?? 'connection')
    }
    await sleep(random() * 2 * pauseMs)
  }
}

type Server = ReturnType<Site['servers']>[number]
interface Call {
  readonly word: string
  readonly tool: keyof typeof tools
  readonly kind: keyof typeof kinds
}

async function make(server: Server, history: History, { word, tool, kind }: Call): Promise<void> {
  if (kind === 'change') {
    const answer = await server.request('PATCH', '/tools/changing', { body: { notes: word } })
    if (answer.status === 200) history.changes++
    else note(history, answer.body?.code ?? answer.status)
    return
  }
  const body = {
    wait: kind !== 'queue' && kind !== 'cancel',
    input: kind === 'wrong' ? { nothing: word } : { word },
    ...(kind === 'key' ? { idempotencyKey: word } : {}),
  }
  const answers = await Promise.all(
    Array.from({ length: kind === 'key' ? 2 : 1 }, () =>
      server.request('POST', `/tools/soak_${tool}/execute`, { body }),
    ),
  )
  for (const { status, body: told } of answers) {
    if (status === 200) history.acknowledged.set(told.id, { word, tool, status: told.status })
    else if (status === 202) history.acknowledged.set(told.id, { word, tool })
    else note(history, told?.code ?? status)
  }
  if (kind === 'cancel' && answers[0]?.status === 202)
    await server.request('POST', `/executions/${answers[0].body.id}/cancel`)
}

const note = (history: History, code: string | number): void => {
  history.refusals.set(String(code), (history.refusals.get(String(code)) ?? 0) + 1)
}
