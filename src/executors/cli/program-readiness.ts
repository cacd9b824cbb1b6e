import { resolve } from 'node:path'
import { BoundedMap } from '../../base/bounded-map.ts'
import { type Environment, expandHome, expandVariables } from '../../base/expand-variables.ts'
import { commandWords } from '../../base/split-words.ts'
import { type Readiness, ready } from '../../contract/catalog.ts'
import type { ExecutorChoice } from '../../contract/policy.ts'
import type { ResolvedTool } from '../../contract/tool-index.ts'
import { findProgram } from '../process/find-program.ts'
import { toStartError } from '../process/start-error.ts'

/** The settings of the search for programs. */
export interface ProgramReadinessOptions {
  readonly env: Environment
  readonly where?: (() => ExecutorChoice | undefined) | undefined
  readonly now?: (() => number) | undefined
}

/** The cache limits; entries are short-lived, so that a newly installed program is found soon. */
const limits = { maxEntries: 500, ttlMs: 5000 }

/** Checks whether the program of a tool is installed; results are cached for a few seconds. */
export class ProgramReadiness {
  readonly #options: ProgramReadinessOptions
  readonly #now: () => number
  readonly #cache = new BoundedMap<string, { readonly readiness: Readiness; readonly until: number }>(limits.maxEntries)

  constructor(options: ProgramReadinessOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  of({ baseCommand, tool, env, workingDir }: ResolvedTool): Readiness {
    // With containers, docker must be installed; the content of the image cannot be checked.
    const own = baseCommand.trim() === '' ? tool.command : baseCommand
    const command = this.#options.where?.()?.type === 'docker' ? 'docker' : own
    const key = [command, env.PATH ?? '', workingDir ?? ''].join('\0')
    const cached = this.#cache.get(key)
    if (cached !== undefined && cached.until > this.#now()) return cached.readiness
    const readiness = this.#find(command, env.PATH, workingDir)
    this.#cache.set(key, { readiness, until: this.#now() + limits.ttlMs })
    return readiness
  }

  #find(command: string, path: string | undefined, workingDir: string | null): Readiness {
    const { env } = this.#options
    let word = command
    try {
      word = commandWords(command, env)[0] ?? ''
      const folder = workingDir === null ? '.' : expandHome(expandVariables(workingDir, env).text, env)
      const own = path === undefined ? env : { ...env, PATH: expandVariables(path, env, 'braced').text }
      findProgram(word, own, resolve(folder))
      return ready
    } catch (error) {
      return { state: 'needs-program', reason: toStartError(error, word).message }
    }
  }
}
