import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import { type Readiness, ready } from '../../contract/catalog.ts'
import type { Landlock } from './confined-sandbox.ts'
import type { Bubblewrap } from './isolated-sandbox.ts'
import { probeBubblewrap, probeLandlock } from './probe-sandboxes.ts'
import type { Level } from './sandbox-config.ts'
import { type Probed, SelfTest } from './self-test.ts'

/** The levels with a sandbox. */
type SandboxedLevel = Exclude<Level, 'limited'>

/** The isolation levels that the machine supports and the operator allows, and the choice of one for a tool. */
export class Levels {
  readonly #allowLimited: boolean
  readonly isolated: SelfTest<Bubblewrap>
  readonly confined: SelfTest<Landlock>

  constructor(env: Environment, allowLimited: boolean) {
    this.#allowLimited = allowLimited
    this.isolated = new SelfTest(() => probeBubblewrap(env))
    this.confined = new SelfTest(() => probeLandlock(env))
  }

  /** The best sandboxed level of the machine, and the reasons why it has no better one. */
  async best(): Promise<{ readonly level: SandboxedLevel | undefined; readonly reasons: readonly string[] }> {
    const isolated = await this.isolated.run()
    if ('made' in isolated) return { level: 'isolated', reasons: [] }
    const confined = await this.confined.run()
    if ('made' in confined) return { level: 'confined', reasons: [isolated.reason] }
    return { level: undefined, reasons: [isolated.reason, confined.reason] }
  }

  /** The default level, if the self-tests have run already. */
  get known(): Level | undefined {
    const [isolated, confined] = [this.isolated.known, this.confined.known]
    if (isolated !== undefined && 'made' in isolated) return 'isolated'
    if (confined !== undefined && 'made' in confined) return 'confined'
    return isolated !== undefined && confined !== undefined && this.#allowLimited ? 'limited' : undefined
  }

  /** Whether a tool can run, as far as it is known without a self-test. */
  readiness(requested: Level | undefined): Readiness {
    const lacks = { isolated: reasonOf(this.isolated.known), confined: reasonOf(this.confined.known) }
    if (requested === 'limited') return this.#allowLimited ? ready : { state: 'needs-approval', reason: limitedHint }
    if (requested !== undefined) return toReadiness(lacks[requested])
    if (this.#allowLimited || lacks.isolated === undefined || lacks.confined === undefined) return ready
    return toReadiness(`${lacks.isolated}; ${lacks.confined}`)
  }

  /** The level of a tool: the requested one, or the best that is available and allowed. */
  async levelFor(tool: string, requested: Level | undefined): Promise<Level> {
    if (requested === 'limited') return this.#limited(tool)
    if (requested !== undefined) return this.#sandboxed(tool, requested)
    const { level, reasons } = await this.best()
    if (level !== undefined) return level
    if (this.#allowLimited) return 'limited'
    throw missing(`${tool} needs a sandbox, which this machine does not support`, reasons, [
      ...Object.values(installHints),
      limitedHint,
    ])
  }

  #limited(tool: string): Level {
    if (this.#allowLimited) return 'limited'
    throw new TooldexError(
      'POLICY_REFUSED',
      `${tool} requests the isolation level limited, which is not allowed on this server.`,
      {
        hint: limitedHint,
      },
    )
  }

  async #sandboxed(tool: string, requested: SandboxedLevel): Promise<Level> {
    const probed = await this[requested].run()
    if ('made' in probed) return requested
    throw missing(
      `${tool} requests the isolation level ${requested}, which this machine does not support`,
      [probed.reason],
      [installHints[requested]],
    )
  }
}

const reasonOf = (known: Probed<unknown> | undefined): string | undefined =>
  known !== undefined && 'reason' in known ? known.reason : undefined

const toReadiness = (reason: string | undefined): Readiness =>
  reason === undefined ? ready : { state: 'needs-program', reason }

const missing = (what: string, reasons: readonly string[], hints: readonly string[]) =>
  new TooldexError('SANDBOX_MISSING', `${what}: ${reasons.join('; ')}.`, { hint: hints.join(' ') })

/** The hints for a missing level. */
export const installHints: Readonly<Record<SandboxedLevel, string>> = {
  isolated: 'Install bubblewrap (on Debian: apt-get install bubblewrap) where user namespaces are allowed.',
  confined: 'To run confined, use Linux 6.12 or newer with Landlock, and install python3.',
}
const limitedHint =
  'The operator of the server can allow runs with limits but without a sandbox: --allow-limited or TOOLDEX_ALLOW_LIMITED=1.'
