import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Context, Hono } from 'hono'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import { consoleDir } from '../../base/package-info.ts'
import { type Authenticator, secretInUrl } from './authenticate.ts'
import { type OidcSignIn, SignInDenied } from './oidc-sign-in.ts'
import { readRequestBody } from './read-request.ts'
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

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}
const encodings = { br: '.br', gzip: '.gz' } as const
const noncePlace = /__NONCE__/g
/** Paths that are never pages of the console. */
const reserved = /^\/(?:api|assets|docs|mcp|session|\.well-known|healthz|readyz|metrics|openapi\.json)(?:\/|$)/

/** The files of the built console. Names of assets contain their hash, so browsers keep them. */
class ConsoleFiles {
  readonly #html: string
  readonly #names: ReadonlySet<string>
  readonly #cache = new Map<string, Uint8Array<ArrayBuffer>>()
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = join(folder, 'assets')
    this.#html = readFileSync(join(folder, 'index.html'), 'utf8')
    this.#names = new Set(readdirSync(this.#folder))
  }

  /** Opens the files; undefined where the console is not built. */
  static open(folder: string = consoleDir): ConsoleFiles | undefined {
    return existsSync(join(folder, 'index.html')) ? new ConsoleFiles(folder) : undefined
  }

  /** The page of every path of the console; scripts and styles run only from our files or with its nonce. */
  page(): Response {
    const nonce = randomBytes(16).toString('base64')
    const policy = [
      "default-src 'none'",
      `script-src 'self' 'nonce-${nonce}'`,
      `style-src 'self' 'nonce-${nonce}'`,
      "img-src 'self' blob:",
      "font-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ].join('; ')
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }
    return new Response(this.#html.replace(noncePlace, nonce), { headers })
  }

  /** An asset in the best encoding that the browser accepts; undefined if there is none of this name. */
  asset(name: string, accepted = ''): Response | undefined {
    const type = types[extname(name)]
    if (type === undefined || !(this.#names.has(name) || this.#names.has(`${name}.gz`))) return undefined
    const encoding = (['br', 'gzip'] as const).find(
      (each) => new RegExp(`\\b${each}\\b(?!;q=0(?:$|,))`).test(accepted) && this.#names.has(name + encodings[each]),
    )
    const headers = {
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    }
    return new Response(this.#read(encoding === undefined ? name : name + encodings[encoding]), { headers })
  }

  #read(name: string): Uint8Array<ArrayBuffer> {
    const cached = this.#cache.get(name) ?? this.#load(name)
    this.#cache.set(name, cached)
    return cached
  }

  /** Texts are in the package in compressed forms only. */
  #load(name: string): Uint8Array<ArrayBuffer> {
    const isPlain = this.#names.has(name)
    const bytes = readFileSync(join(this.#folder, isPlain ? name : `${name}.gz`))
    return new Uint8Array(isPlain ? bytes : gunzipSync(bytes))
  }
}

/** Whether a request without a route is a browser that opens a page of the console. */
const opensPage = (method: string, path: string, accept: string | undefined): boolean =>
  (method === 'GET' || method === 'HEAD') && accept?.includes('text/html') === true && !reserved.test(path)
