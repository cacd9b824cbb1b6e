import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JSONRPCMessage, JSONRPCRequest, RequestId, Transport } from '@modelcontextprotocol/server'
import { isObject } from '../../../base/json-values.ts'
import type { ClientExchange } from '../client-rounds.ts'

const prefix = 'reply:'
const pollMs = 500

type Reply = Extract<JSONRPCMessage, { result: unknown } | { error: unknown }>

/** Whether a message of a client is the response to a request of the server. */
export const isReply = (message: unknown): message is Reply & { id: RequestId } =>
  isObject(message) &&
  message.method === undefined &&
  message.id !== undefined &&
  ('result' in message || 'error' in message)

/**
 * Requests of the server within the response to a call, such as an elicitation. The client posts its response as another request,
 * which any replica may receive: if the request was not sent by this process, the response is stored for the process that waits.
 */
export class ClientRequests {
  readonly #waiting = new Map<string, (reply: Reply) => void>()

  /** Sends requests under unguessable ids, because each server object counts from zero. */
  relay(transport: Transport, exchange: ClientExchange, signal: AbortSignal): void {
    const send = transport.send.bind(transport)
    transport.send = async (message, options) => {
      if (!('method' in message) || !('id' in message)) return send(message, options)
      const id = randomUUID()
      const deliver = (reply: Reply) => transport.onmessage?.({ ...reply, id: message.id })
      this.#await(id, deliver, exchange, signal)
      return send({ ...message, id } as JSONRPCRequest, options)
    }
  }

  /** Delivers the response of a client, here or to the replica that waits for it. */
  async accept(reply: Reply & { id: RequestId }, { caller, exchanges }: ClientExchange): Promise<void> {
    const key = keyOf({ caller, exchanges }, String(reply.id))
    const waiting = this.#waiting.get(key)
    this.#waiting.delete(key)
    if (waiting !== undefined) waiting(reply)
    else await exchanges.put(caller, prefix + String(reply.id).slice(0, 100), reply)
  }

  #await(id: string, deliver: (reply: Reply) => void, exchange: ClientExchange, signal: AbortSignal): void {
    const key = keyOf(exchange, id)
    this.#waiting.set(key, deliver)
    const poll = async () => {
      while (this.#waiting.has(key)) {
        await sleep(pollMs, undefined, { signal })
        const reply = await exchange.exchanges.take(exchange.caller, prefix + id).catch(() => undefined)
        if (reply !== undefined && this.#waiting.delete(key)) deliver(reply as Reply)
      }
    }
    poll().catch(() => this.#waiting.delete(key))
  }
}

const keyOf = ({ caller }: ClientExchange, id: string): string => JSON.stringify([caller.workspace, caller.actor, id])
