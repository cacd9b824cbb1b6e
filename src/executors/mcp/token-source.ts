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

  /** Remembers which token a response answers. */
  note(response: Response, headers: RequestInit['headers']): void {
    const [, token] = /^Bearer (.+)$/.exec(new Headers(headers).get('authorization') ?? '') ?? []
    if (token !== undefined) this.#sent.set(response, token)
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
