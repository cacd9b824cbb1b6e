import { resolve } from 'node:path'
import { commandWords } from '../../base/command-words.ts'
import { type Environment, expandHome, expandVariables } from '../../base/expand-variables.ts'
import type { ExecutorChoice } from '../../contract/policy.ts'
import type { ResolvedTool } from '../../contract/tool-index.ts'
import { type Readiness, ready } from '../../contract/tool-state.ts'
import { findProgram } from '../process/find-program.ts'
import { toStartError } from '../process/start-error.ts'

/** What decides where a program is looked for. */
export interface ProgramReadinessOptions {
  readonly env: Environment
  readonly where?: (() => ExecutorChoice | undefined) | undefined
  readonly now?: (() => number) | undefined
}

/** How many programs are remembered, and for how long: somebody who installs one need not wait for it. */
const limits = { most: 500, lifeMs: 5000 }

/** Says whether the program of a tool is there, looking for each at most once in a few seconds. */
export class ProgramReadiness {
  readonly #options: ProgramReadinessOptions
  readonly #now: () => number
  readonly #known = new Map<string, { readonly readiness: Readiness; readonly until: number }>()

  constructor(options: ProgramReadinessOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  of({ baseCommand, tool, env, workingDir }: ResolvedTool): Readiness {
    // In a container it is docker that must be here; what the image holds is not known.
    const own = baseCommand.trim() === '' ? tool.command : baseCommand
    const command = this.#options.where?.()?.type === 'docker' ? 'docker' : own
    const key = [command, env.PATH ?? '', workingDir ?? ''].join('\0')
    const known = this.#known.get(key)
    if (known !== undefined && known.until > this.#now()) return known.readiness
    const readiness = this.#look(command, env.PATH, workingDir)
    if (this.#known.size >= limits.most) this.#known.clear()
    this.#known.set(key, { readiness, until: this.#now() + limits.lifeMs })
    return readiness
  }

  #look(command: string, path: string | undefined, workingDir: string | null): Readiness {
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
