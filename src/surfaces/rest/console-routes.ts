import type { Context, Hono } from 'hono'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import { type Authenticator, secretInUrl } from './authenticate.ts'
import { ConsoleFiles, opensPage } from './console-files.ts'
import { type OidcSignIn, SignInDenied } from './oidc-sign-in.ts'
import { readRequestBody } from './read-body.ts'
import { requireOwnPage, type SessionCookies } from './sessions.ts'

/** What the routes of the console use. */
interface ConsoleParts {
  readonly authenticator: Authenticator
  readonly sessions: SessionCookies
  /** The sign-in at the authorization server, where one is configured. */
  readonly oidc: OidcSignIn | undefined
  readonly logger: Logger
  /** The address of the client. */
  readonly sourceOf: (c: Context) => string
}

const SignIn = z.strictObject({ key: z.string().trim().min(1).max(8192) })
const bodyLimits = { bytes: 16_384, depth: 4, values: 20 }

/** Routes of the web console besides the API: its files, and the session of the browser. */
export function addConsoleRoutes(app: Hono, parts: ConsoleParts): void {
  const { authenticator, sessions, sourceOf, oidc } = parts
  const offer = oidc && { signInWith: oidc.host }
  const signedOut = { signedIn: false, ...offer }
  const identify = (c: Context, credentials: object) =>
    authenticator.identify({
      authorization: undefined,
      address: c.req.url,
      source: sourceOf(c),
      isReading: false,
      ...credentials,
    })
  app.get('/session', async (c) => {
    requireOwnPage(c)
    try {
      const session = sessions.read(c)
      if (session === undefined) return c.json(signedOut)
      await identify(c, { session: session.credential })
      return c.json({ signedIn: true, expiresAt: new Date(session.expiresAt).toISOString(), ...offer })
    } catch (thrown) {
      if (!(thrown instanceof TooldexError) || thrown.code !== 'UNAUTHORIZED') throw thrown
      sessions.end(c)
      return c.json(signedOut)
    }
  })
  app.post('/session', async (c) => {
    requireOwnPage(c)
    const { success, data } = SignIn.safeParse(await readRequestBody(c.req.raw, bodyLimits))
    if (!success)
      throw new TooldexError('INPUT_INVALID', 'The body has no key.', { hint: 'Send {"key": "tdx_..."} as JSON.' })
    await identify(c, { authorization: `Bearer ${data.key}` })
    const { expiresAt } = sessions.start(c, authenticator.credentialOf(data.key))
    return c.json({ signedIn: true, expiresAt: new Date(expiresAt).toISOString(), ...offer }, 201)
  })
  app.delete('/session', (c) => {
    requireOwnPage(c)
    sessions.end(c)
    return c.body(null, 204)
  })
  if (oidc !== undefined) addSignIn(app, oidc, { ...parts, identify })
  addFiles(app)
}

interface SignInParts extends ConsoleParts {
  readonly identify: (c: Context, credentials: object) => ReturnType<Authenticator['identify']>
}

/** The way to the authorization server and back. A page shows what went wrong, so both answer with redirects to it. */
function addSignIn(app: Hono, oidc: OidcSignIn, { authenticator, sessions, logger, identify }: SignInParts): void {
  const redirecting = async (c: Context, next: () => Promise<string>) => {
    try {
      return c.redirect(await next())
    } catch (thrown) {
      logger.warn('a sign-in failed', { reason: thrown instanceof Error ? thrown.message : String(thrown) })
      return c.redirect(`/#sign-in=${thrown instanceof SignInDenied ? 'denied' : 'failed'}`)
    }
  }
  app.get('/session/authorize', (c) =>
    // A page of another site must not replace the session.
    c.req.header('sec-fetch-site') === 'cross-site' ? c.redirect('/') : redirecting(c, () => oidc.begin(c)),
  )
  app.get('/session/callback', (c) =>
    redirecting(c, async () => {
      const { accessToken, subject, to } = await oidc.finish(c)
      const { actor } = await identify(c, { address: '', authorization: `Bearer ${accessToken}` })
      if (actor !== `sub:${subject}`) throw new Error('the access token is of another subject than the ID token')
      sessions.startAfter(c, authenticator.credentialOf(accessToken), oidc.isSecure)
      return to
    }),
  )
}

function addFiles(app: Hono): void {
  const files = ConsoleFiles.open()
  if (files === undefined) return void app.get('/', (c) => c.redirect('/docs'))
  const page = (c: Context): Response =>
    // A key in the query would stay in the URL and in logs.
    secretInUrl(c.req.url) === undefined ? files.page() : c.redirect(ownPath(c.req.url))
  app.get('/', page)
  app.get('/assets/:name', (c) => {
    const response = files.asset(c.req.param('name'), c.req.header('accept-encoding'))
    if (response !== undefined) return response
    throw new TooldexError('NOT_FOUND', 'The console has no such file.', { hint: 'Reload the page.' })
  })
  app.use(async (c, next) => {
    if (!opensPage(c.req.method, c.req.path, c.req.header('accept'))) return next()
    const response = page(c)
    return c.req.method === 'HEAD' ? new Response(null, response) : response
  })
}

/** The path of a URL; one that begins with two slashes would be another host. */
const ownPath = (url: string): string => new URL(url).pathname.replace(/^\/+/, '/')
