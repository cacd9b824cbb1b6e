import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import { type Readiness, ready } from '../../contract/tool-state.ts'
import type { Landlock } from './confined-sandbox.ts'
import type { Bubblewrap } from './isolated-sandbox.ts'
import type { Level } from './level.ts'
import { probeBubblewrap } from './probe-bubblewrap.ts'
import { probeLandlock } from './probe-landlock.ts'
import { type Probed, SelfTest } from './self-test.ts'

/** The levels with walls. */
type SandboxedLevel = Exclude<Level, 'limited'>

/** Knows which levels the machine has and an admin allows, and which a tool gets. */
export class Levels {
  readonly #allowLimited: boolean
  readonly isolated: SelfTest<Bubblewrap>
  readonly confined: SelfTest<Landlock>

  constructor(env: Environment, allowLimited: boolean) {
    this.#allowLimited = allowLimited
    this.isolated = new SelfTest(() => probeBubblewrap(env))
    this.confined = new SelfTest(() => probeLandlock(env))
  }

  /** The best that the machine has with walls, and why it has no better. */
  async best(): Promise<{ readonly level: SandboxedLevel | undefined; readonly reasons: readonly string[] }> {
    const isolated = await this.isolated.run()
    if ('made' in isolated) return { level: 'isolated', reasons: [] }
    const confined = await this.confined.run()
    if ('made' in confined) return { level: 'confined', reasons: [isolated.reason] }
    return { level: undefined, reasons: [isolated.reason, confined.reason] }
  }

  /** The level of a tool that asks for none, where that was found out already. */
  get known(): Level | undefined {
    const [isolated, confined] = [this.isolated.known, this.confined.known]
    if (isolated !== undefined && 'made' in isolated) return 'isolated'
    if (confined !== undefined && 'made' in confined) return 'confined'
    return isolated !== undefined && confined !== undefined && this.#allowLimited ? 'limited' : undefined
  }

  /** Whether a tool could be run, as far as that is known without trying. */
  readiness(wanted: Level | undefined): Readiness {
    const lacks = { isolated: reasonOf(this.isolated.known), confined: reasonOf(this.confined.known) }
    if (wanted === 'limited') return this.#allowLimited ? ready : { state: 'needs-approval', reason: limitedHint }
    if (wanted !== undefined) return toReadiness(lacks[wanted])
    if (this.#allowLimited || lacks.isolated === undefined || lacks.confined === undefined) return ready
    return toReadiness(`${lacks.isolated}; ${lacks.confined}`)
  }

  /** The level a tool runs at: the one it asks for, or the best there is of those that are allowed. */
  async levelFor(tool: string, wanted: Level | undefined): Promise<Level> {
    if (wanted === 'limited') return this.#limited(tool)
    if (wanted !== undefined) return this.#walled(tool, wanted)
    const { level, reasons } = await this.best()
    if (level !== undefined) return level
    if (this.#allowLimited) return 'limited'
    throw missing(`${tool} needs a sandbox, and this machine makes none`, reasons, [
      ...Object.values(installHints),
      limitedHint,
    ])
  }

  #limited(tool: string): Level {
    if (this.#allowLimited) return 'limited'
    throw new TooldexError('POLICY_REFUSED', `${tool} asks to run without a sandbox, with limits only.`, {
      hint: limitedHint,
    })
  }

  async #walled(tool: string, wanted: SandboxedLevel): Promise<Level> {
    const probed = await this[wanted].run()
    if ('made' in probed) return wanted
    throw missing(
      `${tool} asks to run ${wanted}, which this machine cannot do`,
      [probed.reason],
      [installHints[wanted]],
    )
  }
}

const reasonOf = (known: Probed<unknown> | undefined): string | undefined =>
  known !== undefined && 'reason' in known ? known.reason : undefined

const toReadiness = (reason: string | undefined): Readiness =>
  reason === undefined ? ready : { state: 'needs-program', reason }

const missing = (what: string, reasons: readonly string[], hints: readonly string[]) =>
  new TooldexError('SANDBOX_MISSING', `${what}: ${reasons.join('; ')}.`, { hint: hints.join(' ') })

/** What to do where a level is missing. */
export const installHints: Readonly<Record<SandboxedLevel, string>> = {
  isolated: 'Install bubblewrap (on Debian: apt-get install bubblewrap) where user namespaces are allowed.',
  confined: 'To run confined, use Linux 6.12 or newer with Landlock, and install python3.',
}
const limitedHint =
  'The operator of the server can allow runs that are limited but not isolated: --allow-limited or TOOLDEX_ALLOW_LIMITED=1.'
