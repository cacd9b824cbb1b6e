import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { projectRoot } from '../support/run-cli.ts'

/** No turn of a server's event loop may compute for longer. */
export const longestTurnMs = 50

/** A turn of the event loop that computed for more than 20 ms. */
export interface LongTurn {
  readonly at: number
  /** CPU time of the main thread, so that a loaded machine does not look like a blocked loop. */
  readonly cpuMs: number
  readonly wallMs: number
  readonly stack?: string
}

/** Notes the long turns of the servers that are started with its variables. */
export function watchTurns() {
  const folder = mkdtempSync(join(tmpdir(), 'tooldex-turns-'))
  const watch = pathToFileURL(join(projectRoot, 'tests/fuzz/watch-loop.mjs')).href
  return {
    env: {
      NODE_OPTIONS: `--import=${watch}`,
      TOOLDEX_LOOP_FOLDER: folder,
      TOOLDEX_LOOP_STACK: process.env.TOOLDEX_LOOP_STACK,
    },
    turns: (): readonly LongTurn[] =>
      readdirSync(folder)
        .flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'))
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as LongTurn),
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}
