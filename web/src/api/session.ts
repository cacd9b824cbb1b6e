import { type QueryClient, useQuery } from '@tanstack/react-query'
import { TooldexError } from 'tooldex/client'
import { api, sessionHeaders } from './client.ts'
import { dropAllDrafts } from './drafts.ts'

/** The session of this browser. */
export interface SessionState {
  readonly signedIn: boolean
  readonly expiresAt?: string
  /** The host of the authorization server, where people can sign in there. */
  readonly signInWith?: string
  /** Whether it was signed in before. */
  readonly ended?: boolean
}

interface Refusal {
  readonly detail?: string
  readonly hint?: string
}

/** Reads whether this browser is signed in; a key in the fragment of the URL signs in first, and is removed from it. */
export async function readSession(): Promise<SessionState> {
  const key = takeKeyFromUrl()
  if (key !== undefined) return signIn(key)
  const response = await fetch('/session', { headers: sessionHeaders })
  if (!response.ok) throw await toError(response)
  return (await response.json()) as SessionState
}

/** The result of a sign-in elsewhere that did not succeed, removed from the URL. */
export function takeFailedSignIn(): 'denied' | 'failed' | undefined {
  const found = new URLSearchParams(location.hash.slice(1)).get('sign-in')
  if (found === null) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  return found === 'denied' ? 'denied' : 'failed'
}

/** Exchanges a key for a session. */
export async function signIn(key: string): Promise<SessionState> {
  const headers = { ...sessionHeaders, 'content-type': 'application/json' }
  const response = await fetch('/session', { method: 'POST', headers, body: JSON.stringify({ key }) })
  if (!response.ok) throw await toError(response)
  return (await response.json()) as SessionState
}

/** Ends the session. */
export async function signOut(): Promise<void> {
  dropAllDrafts()
  await fetch('/session', { method: 'DELETE', headers: sessionHeaders })
}

/** Shows the pages or the way in; nothing that another caller has read stays. */
export function changeSession(queries: QueryClient, state: SessionState): void {
  const known = queries.getQueryData<SessionState>(['session'])
  queries.setQueryData(['session'], { ...(known?.signInWith && { signInWith: known.signInWith }), ...state })
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
}

/** The caller of this session: name, workspace and scopes. */
export const useCaller = () => useQuery({ queryKey: ['caller'], queryFn: () => api.keys.current(), staleTime: 60_000 })

/** Browsers never send the fragment, so the key is in no log; here it leaves the history too. */
function takeKeyFromUrl(): string | undefined {
  const key = new URLSearchParams(location.hash.slice(1)).get('key')
  if (key === null) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  return key.trim()
}

async function toError(response: Response): Promise<TooldexError> {
  const body = (await response.json().catch(() => ({}))) as Refusal
  const code = response.status === 401 ? 'UNAUTHORIZED' : 'UNAVAILABLE'
  return new TooldexError(code, body.detail ?? `The server returned HTTP ${response.status}.`, { hint: body.hint })
}
