import { createHash } from 'node:crypto'
import type { Context, Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { html, raw } from 'hono/html'
import { errorTable, TooldexError, toTooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import { isObject } from '../../base/json-values.ts'
import type { SecretBox } from '../../contract/secret.ts'
import {
  callbackPath,
  clientMetadata,
  clientMetadataPath,
  type SignInTicket,
  signInPath,
} from '../../contract/sign-in.ts'
import type { Caller } from '../../contract/stores.ts'
import {
  type BrowserContext,
  type BrowserProof,
  beginInBrowser,
  expired,
  finishInBrowser,
  openTicket,
} from '../../operations/sources/browser-sign-in.ts'

interface SignInRoutes {
  /** The context of a caller, for whom a browser signs in. */
  readonly contextFor: (caller: Caller) => Promise<BrowserContext>
  readonly box: SecretBox | undefined
  /** The origin of the server as browsers know it. */
  readonly originOf: (c: Context) => string
}

const proofSeconds = 600
// A value that was sealed for another purpose does not begin like this.
const mark = 'tooldex browser sign-in '
const nobody = { workspace: 'default', actor: 'tooldex' }

/** The pages of a sign-in at a source: the link, its confirmation, and the return of the browser. */
export function addSignInRoutes(app: Hono, { contextFor, box, originOf }: SignInRoutes): void {
  const offerOf = async (c: Context) => openTicket(await contextFor(nobody), c.req.query('ticket') ?? '')
  app.get(clientMetadataPath, (c) => {
    const origin = originOf(c)
    return c.json({ client_id: origin + clientMetadataPath, client_uri: origin, ...clientMetadata(origin) })
  })
  app.get(signInPath, (c) =>
    orErrorPage(c, async () => {
      const { ticket, host } = await offerOf(c)
      return page(
        c,
        `Sign in to ${toOneLine(ticket.name)}`,
        confirmation(ticket, { host, link: c.req.query('ticket') ?? '' }),
      )
    }),
  )
  app.post(signInPath, (c) =>
    orErrorPage(c, async () => {
      if (box === undefined) throw new TooldexError('SECRET_UNAVAILABLE', 'Sign-ins cannot be stored here.')
      const { ticket } = await offerOf(c)
      const origin = originOf(c)
      const { url, state } = await beginInBrowser(await contextFor(callerOf(ticket)), ticket, origin)
      const proof: BrowserProof & { expiresAt: number } = { ticket, state, expiresAt: Date.now() + proofSeconds * 1000 }
      setCookie(
        c,
        cookieName(state),
        Buffer.from(box.seal(mark + JSON.stringify(proof)), 'base64').toString('base64url'),
        {
          ...cookieAttributes(origin),
          maxAge: proofSeconds,
        },
      )
      return c.redirect(url, 303)
    }),
  )
  app.get(callbackPath, (c) =>
    orErrorPage(c, async () => {
      const { state = '', code, error, iss } = c.req.query()
      const proof = openProof(box, getCookie(c, cookieName(state)))
      deleteCookie(c, cookieName(state), cookieAttributes(originOf(c)))
      // A browser that did not begin this sign-in could have been sent here by somebody else.
      if (proof === undefined || proof.state !== state) throw expired()
      await finishInBrowser(await contextFor(callerOf(proof.ticket)), proof, { code, error, iss })
      const { name, caller } = proof.ticket
      const who = caller === '' ? 'all callers' : caller
      return page(
        c,
        'Signed in',
        html`<p>Calls of <b>${toOneLine(who)}</b> now use this account at <b>${name}</b>.</p>
        <p>You can close this page.</p>`,
      )
    }),
  )
}

const callerOf = ({ workspace, actor }: SignInTicket): Caller => ({ workspace, actor })

/** The link may have been sent by somebody else, so the page names the caller who would use the account. */
function confirmation(
  { name, caller, actor, workspace }: SignInTicket,
  { host, link }: { host: string; link: string },
) {
  const shared = html`all callers of the workspace <b>${toOneLine(workspace)}</b>, as <b>${toOneLine(actor)}</b> requested`
  const own = html`the caller <b>${toOneLine(caller)}</b> of the workspace <b>${toOneLine(workspace)}</b>`
  return html`<p>You are about to connect an account at <b>${host}</b> (the source <b>${name}</b>) with ${caller === '' ? shared : own}.</p>
    <p>From then on, their calls of its tools use the account that you sign in with, and all that it may do.</p>
    <p><b>Continue only if you requested this link yourself.</b> If somebody sent it to you, close this page.</p>
    <form method="post" action="${signInPath}?ticket=${encodeURIComponent(link)}"><button>Continue</button></form>`
}

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1rem}'
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

async function page(c: Context, title: string, body: unknown): Promise<Response> {
  c.header('content-security-policy', policy)
  // The form would otherwise be sent without an origin.
  c.header('referrer-policy', 'same-origin')
  c.header('cache-control', 'no-store')
  return c.html(html`<!doctype html><html lang="en"><meta charset="utf-8" /><meta name="viewport" content="width=device-width" />
    <title>${title} - Tooldex</title><style>${raw(style)}</style><main><h1>${title}</h1>${await body}</main></html>`)
}

/** An error as a page for the person in front of the browser. */
async function orErrorPage(c: Context, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work()
  } catch (thrown) {
    const error = toTooldexError(thrown)
    if (error.code === 'INTERNAL') throw thrown
    const { http } = errorTable[error.code]
    c.status((http < 400 ? 502 : http) as 502)
    return page(c, 'Not signed in', html`<p>${error.message}</p><p>${error.hint}</p>`)
  }
}

function openProof(box: SecretBox | undefined, cookie: string | undefined): BrowserProof | undefined {
  if (cookie === undefined) return undefined
  try {
    const text = box?.open(Buffer.from(cookie, 'base64url').toString('base64'))
    const value: unknown = text?.startsWith(mark) ? JSON.parse(text.slice(mark.length)) : undefined
    return isObject(value) && Number(value.expiresAt) > Date.now() ? (value as unknown as BrowserProof) : undefined
  } catch {
    return undefined
  }
}

/** Each sign-in of a browser has a cookie of its own. */
const cookieName = (state: string): string =>
  `tooldex_sign_in_${createHash('sha256').update(state).digest('hex').slice(0, 16)}`

/** The browser comes back from another site, which a strict cookie would not survive. */
const cookieAttributes = (origin: string) =>
  ({ httpOnly: true, sameSite: 'Lax', path: '/oauth', secure: origin.startsWith('https:') }) as const
