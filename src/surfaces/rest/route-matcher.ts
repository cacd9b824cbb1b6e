import { Hono } from 'hono'
import type { Result, Router } from 'hono/router'

/** Keeps the matches of paths without parameters: a search through all routes takes longer than most handlers. */
export class RouteMatcher<Handler> implements Router<Handler> {
  readonly name = 'RouteMatcher'
  readonly #inner = new Hono().router as unknown as Router<Handler>
  readonly #fixed = new Set<string>()
  readonly #kept = new Map<string, Result<Handler>>()

  add(method: string, path: string, handler: Handler): void {
    if (!/[:*]/.test(path)) this.#fixed.add(path)
    this.#inner.add(method, path, handler)
  }

  match(method: string, path: string): Result<Handler> {
    const key = `${method} ${path}`
    const found = this.#kept.get(key) ?? this.#inner.match(method, path)
    if (this.#fixed.has(path)) this.#kept.set(key, found)
    return found
  }
}
