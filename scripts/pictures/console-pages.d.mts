import type { Page } from 'playwright-core'
import type { PageIds } from './fill-server.mjs'

export function consolePages(
  ids: PageIds,
): readonly (readonly [name: string, path: string, ready: (page: Page) => Promise<unknown>])[]
