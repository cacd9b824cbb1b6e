import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { consoleDir } from '../../base/package-info.ts'

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
export class ConsoleFiles {
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
export const opensPage = (method: string, path: string, accept: string | undefined): boolean =>
  (method === 'GET' || method === 'HEAD') && accept?.includes('text/html') === true && !reserved.test(path)
