import type { AuthProvider } from '@modelcontextprotocol/client'
import { BoundedMap } from '../../base/bounded-map.ts'
import { TooldexError } from '../../base/errors.ts'
import type { HttpServer } from '../../contract/mcp-server.ts'
import type { SignInRef } from '../../contract/sign-in.ts'
import type { SignIns } from './sign-ins.ts'

// A response to the token before the present one may still arrive.
const maxKept = 3

/** The tokens of one sign-in for the requests to its server. */
export class TokenSource implements AuthProvider {
  readonly #signIns: SignIns
  readonly #ref: SignInRef
  readonly #server: HttpServer
  readonly #revisions = new BoundedMap<string, number>(maxKept)
  readonly #sent = new WeakMap<Response, string>()

  constructor(signIns: SignIns, ref: SignInRef, server: HttpServer) {
    this.#signIns = signIns
    this.#ref = ref
    this.#server = server
  }

  /** The tokens of the last requests, which a server may return. */
  get used(): readonly string[] {
    return [...this.#revisions.keys()]
  }

  async token(): Promise<string | undefined> {
    const opened = await this.#signIns.tokensFor(this.#ref, this.#server)
    if (opened === undefined) return undefined
    this.#revisions.set(opened.tokens.access, opened.revision)
    return opened.tokens.access
  }

  /** Remembers which token a response answers; a server that requires a wider scope needs another sign-in. */
  async note(response: Response, headers: RequestInit['headers']): Promise<void> {
    const [, token] = /^Bearer (.+)$/.exec(new Headers(headers).get('authorization') ?? '') ?? []
    if (token === undefined) return
    this.#sent.set(response, token)
    const required = response.status === 403 ? insufficientScope(response.headers.get('www-authenticate')) : []
    if (required.length === 0 || !(await this.#signIns.requireScope(this.#ref, required))) return
    await response.body?.cancel()
    throw new WiderScopeError(this.#ref, required)
  }

  async onUnauthorized({ response }: Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0]): Promise<void> {
    await response.body?.cancel()
    const revision = this.#revisions.get(this.#sent.get(response) ?? '')
    if (revision === undefined) {
      const asksForToken = /^Bearer\b/i.test(response.headers.get('www-authenticate') ?? '')
      throw asksForToken || this.#server.oauth !== undefined ? signInRequired(this.#ref) : denied()
    }
    if ((await this.#signIns.refresh(this.#ref, this.#server, revision)) === undefined) throw signInRequired(this.#ref)
  }
}

const maxScopes = 50

/** The scopes that a server names in its refusal of a token. */
function insufficientScope(challenge: string | null): readonly string[] {
  if (challenge === null || !/^Bearer\b/i.test(challenge) || !/\berror="?insufficient_scope\b/.test(challenge))
    return []
  const [, scope = ''] = /\bscope="([\x20-\x7e]{1,2000}?)"/.exec(challenge) ?? []
  return scope
    .split(' ')
    .filter((each) => each !== '')
    .slice(0, maxScopes)
}

/** The error of a call whose sign-in has a scope that is too narrow; other calls go on with it. */
export class WiderScopeError extends TooldexError {
  constructor({ name }: SignInRef, required: readonly string[]) {
    const scope = required.join(' ').slice(0, 200)
    super('SIGN_IN_REQUIRED', `The MCP server '${name}' needs another sign-in, for the scope ${scope}.`, {
      hint: `Sign in with: tooldex sources sign-in ${name}`,
    })
  }
}

/** The error of a call that needs a sign-in first. */
export const signInRequired = ({ name, caller }: SignInRef): TooldexError =>
  new TooldexError(
    'SIGN_IN_REQUIRED',
    caller === ''
      ? `The MCP server '${name}' needs a sign-in by an administrator.`
      : `The MCP server '${name}' needs a sign-in by the caller.`,
    { hint: `Sign in with: tooldex sources sign-in ${name}` },
  )

/** The error of a server that rejects a request and names no way to sign in. */
const denied = (): Error => Object.assign(new Error('Unauthorized'), { data: { status: 401 } })
