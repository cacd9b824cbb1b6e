import { packageVersion } from '../base/package-info.ts'
import { MemoryResults } from '../runs/memory-results.ts'
import type { RunOptions } from '../surfaces/cli/index.ts'
import { isClimaxAlias, serveStdio } from '../surfaces/mcp/index.ts'
import { compose } from './compose.ts'

// After the client has gone, running commands are cancelled; their last processes get this long to end.
const drainMs = 2000

/** `tooldex run`: loads the tools, serves them, and leaves nothing behind. */
export async function runStdio(options: RunOptions, stop: AbortSignal): Promise<void> {
  // What is too large for one answer is kept here, and read by its handle.
  const context = { ...compose(options), results: new MemoryResults() }
  const { catalogue, logger } = context
  const ending = new AbortController()
  stop.addEventListener('abort', () => ending.abort(), { once: true })
  for (const name of options.pinned) {
    if (!catalogue.current().names.has(name) && !isClimaxAlias(name))
      logger.warn(`--pin ${name}: there is no such tool`)
  }
  if (options.watch) catalogue.watch(ending.signal)
  const [only] = catalogue.current().configs
  await serveStdio(
    {
      name: options.configs?.length === 1 && only !== undefined ? only.config.name : 'tooldex',
      version: packageVersion(),
      classic: options.classic,
      pinned: options.pinned,
      live: options.watch,
      context,
    },
    stop,
  )
  ending.abort()
  await context.runner.close(drainMs)
}
