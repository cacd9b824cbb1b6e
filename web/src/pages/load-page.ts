import { TooldexError } from 'tooldex/client'
import { probeServer } from '../api/connection.ts'

/** A file of the console that did not arrive. */
export class PageLoadError extends TooldexError {
  constructor(cause: unknown) {
    super('UNAVAILABLE', 'This page could not be loaded: the server did not send it.', { cause })
  }
}

/** Loads the module of a page. The router would answer a failed import with a reload, which leaves the console while the server is down. */
export const loadPage =
  <Module>(load: () => Promise<Module>) =>
  (): Promise<Module> =>
    load().catch((thrown: unknown) => {
      void probeServer()
      throw new PageLoadError(thrown)
    })
