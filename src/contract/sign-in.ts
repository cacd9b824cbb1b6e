import * as z from 'zod'
import { SecretReference } from './secret.ts'
import type { SourceRef } from './source.ts'
import type { Caller } from './stores.ts'

/** The OAuth client of a server that is called over HTTP; a server that requires a sign-in needs no settings. */
export const OAuthSource = z.object({
  /** `shared`: an administrator signs in for all callers. `caller`: each caller signs in with an account of their own. */
  mode: z.enum(['shared', 'caller']).default('shared'),
  /** The client that was registered by hand; otherwise Tooldex registers one. */
  clientId: z.string().min(1).max(2000).optional(),
  /** A reference to the secret of that client. */
  clientSecret: SecretReference.optional(),
  /** The scopes to request; those that the server names where absent. */
  scope: z
    .string()
    .max(2000)
    .regex(/^[\x21\x23-\x5b\x5d-\x7e ]*$/, 'must be scopes with spaces between them')
    .optional(),
})
export type OAuthSource = z.infer<typeof OAuthSource>

/** The owner of a sign-in: a caller, or the empty string for one that all callers share. */
export interface SignInRef extends SourceRef {
  readonly caller: string
}

/** A stored sign-in; its tokens are encrypted. */
export interface StoredSignIn {
  readonly source: string
  readonly caller: string
  /** The encrypted tokens; null after a sign-out or where the authorization server ended the sign-in. */
  readonly sealed: string | null
  readonly issuer: string
  readonly scope: string | null
  /** The reason why the sign-in ended; null for one that is valid or was ended by a sign-out. */
  readonly failure: string | null
  /** Increases with every change of the tokens. */
  readonly revision: number
  readonly signedInAt: string
}

/** A sign-in without its tokens. */
export type SignInState = Omit<StoredSignIn, 'sealed'> & { readonly isSignedIn: boolean }

/** The tokens of a finished sign-in or of a refresh. */
export interface SealedTokens {
  readonly sealed: string
  readonly issuer: string
  readonly scope: string | null
}

/** The sign-ins at the servers of sources. */
export interface SignInStore {
  /** The sign-ins of these callers. */
  list(workspace: string, callers: readonly string[]): Promise<readonly SignInState[]>
  get(ref: SignInRef): Promise<StoredSignIn | undefined>
  /** Stores the tokens of a sign-in in place of earlier ones. */
  put(actor: Caller, ref: SignInRef, tokens: SealedTokens): Promise<SignInState>
  /** Claims the refresh of a revision for this long; false where another process has it, or the revision is another. */
  claimRefresh(ref: SignInRef, revision: number, ms: number): Promise<boolean>
  /** Stores refreshed tokens, or releases the claim without them. */
  endRefresh(ref: SignInRef, revision: number, tokens: SealedTokens | undefined): Promise<void>
  /** Deletes the tokens: after a sign-out, or with the reason why they are no longer valid. False where there are none. */
  end(actor: Caller, ref: SignInRef, failure?: { readonly revision: number; readonly reason: string }): Promise<boolean>
  /** The encrypted registration of the client at an authorization server. */
  client(ref: SourceRef): Promise<string | null>
  keepClient(ref: SourceRef, sealed: string): Promise<void>
}

/** The parameters with which an authorization server redirects a browser back. */
export interface SignInReturn {
  readonly code?: string | undefined
  readonly error?: string | undefined
  readonly iss?: string | undefined
}

/** A sign-in that a browser has begun. */
export interface BegunSignIn {
  /** The URL at the authorization server that the browser is sent to. */
  readonly url: string
  readonly state: string
  /** The encrypted rest of the exchange, such as the code verifier. */
  readonly sealed: string
}

/** The owner and the origin of a link to the page of a sign-in. */
export interface SignInTicket extends SignInRef {
  /** The caller who requested it; of a sign-in that all callers share, an administrator. */
  readonly actor: string
  readonly id: string
  /** The scope to request, where the server requires more than that of the present tokens. */
  readonly scope?: string | undefined
}

/** The OAuth client of sources. */
export interface SignInClient {
  /** A link to the page of a sign-in, which belongs to one caller; the path on the server. */
  ticketFor(ref: SignInRef, actor: string): string
  /** The ticket of a link; undefined for one that is forged or has expired. */
  readTicket(text: string): SignInTicket | undefined
  /** Finds the authorization server of an approved source, registers there, and prepares the request of a browser. */
  begin(ticket: SignInTicket, origin: string): Promise<BegunSignIn>
  /** Exchanges the code of a browser for tokens, and stores them. */
  finish(actor: Caller, ref: SignInRef, begun: Pick<BegunSignIn, 'sealed'>, answer: SignInReturn): Promise<SignInState>
  signOut(actor: Caller, ref: SignInRef): Promise<boolean>
}

/** The route that authorization servers redirect browsers to. */
export const callbackPath = '/oauth/callback'
/** The route of the page that begins a sign-in. */
export const signInPath = '/oauth/sign-in'
/** The route of the document that describes Tooldex as a client; its URL is the client id. */
export const clientMetadataPath = '/oauth/client-metadata.json'

/** How Tooldex introduces itself to authorization servers: the body of a registration, and its client document. */
export const clientMetadata = (origin: string, method = 'none') => ({
  client_name: 'Tooldex',
  redirect_uris: [origin + callbackPath],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: method,
  application_type: /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)/.test(origin) ? 'native' : 'web',
})
