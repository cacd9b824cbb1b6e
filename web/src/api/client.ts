import { createClient } from 'tooldex/client'
import { noteConnection } from './connection.ts'

type Listener = () => void

/** The header without which the server accepts no session: pages of other origins cannot send it. */
export const sessionHeaders = { 'x-tooldex-session': '1' }
const listeners = new Set<Listener>()

/** Calls back when the server no longer accepts the session. */
export function onSessionEnd(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

async function fetchInSession(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init).catch((thrown: unknown) => {
    if (init?.signal?.aborted !== true) noteConnection(false)
    throw thrown
  })
  noteConnection(true)
  if (response.status === 401) for (const listener of listeners) listener()
  return response
}

/** The operations of the server that sent this page; the session is a cookie, so no key is here. */
export const api = createClient({ headers: sessionHeaders, fetch: fetchInSession, retries: 1 })

/** The same within a toolset. */
export const apiIn = (toolset: string) =>
  createClient({ headers: { ...sessionHeaders, 'x-tooldex-toolset': toolset }, fetch: fetchInSession, retries: 1 })
