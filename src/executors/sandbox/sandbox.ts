import type { ChildProcess } from 'node:child_process'
import { statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import type { RunControls } from '../../contract/executor.ts'
import type { Readiness } from '../../contract/tool-state.ts'
import { type Containment, detectContainment } from '../process/containment.ts'
import { findProgram } from '../process/find-program.ts'
import { defaultLimits, type ProcessLimits } from '../process/limits.ts'
import { type ProcessEnd, runProcess, startProcess } from '../process/run-process.ts'
import type { AllowedFolder } from './allowed-folders.ts'
import { type Mount, workFolder } from './bubblewrap-arguments.ts'
import { type ConfinedSandbox, confinedSandbox } from './confined-sandbox.ts'
import { type IsolatedSandbox, isolatedSandbox, type RunUser } from './isolated-sandbox.ts'
import type { Level } from './level.ts'
import { Levels } from './levels.ts'
import { type LimitedSandbox, limitedSandbox } from './limited-sandbox.ts'
import { readBounds, type SandboxLimits } from './sandbox-limits.ts'
import type { Shield } from './shield.ts'

/** What whoever runs the server decides. */
export interface SandboxOptions {
  readonly env: Environment
  /** Whether tools may run with limits only, where they ask for it or nothing better is there. */
  readonly allowLimited?: boolean | undefined
  /** Whether tools that ask for the network get it. */
  readonly allowNetwork?: boolean | undefined
  /** Folders of the machine that tools may use. */
  readonly folders?: readonly AllowedFolder[] | undefined
  /** Hides the server from tools that run with limits only. */
  readonly shield?: Shield | undefined
  readonly limits?: Partial<ProcessLimits> | undefined
  readonly containment?: Containment | undefined
}

/** What is run in a sandbox. */
export interface SandboxRequest {
  readonly level: Level
  readonly program: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** A fresh folder where absent. */
  readonly cwd?: string | undefined
  readonly limits: SandboxLimits
  readonly network: boolean
  /** Seen by a run with walls only; one that is merely limited sees everything. */
  readonly mounts: readonly Mount[]
  /** A server that is root runs it as the owner of this folder, and as a user that owns nothing where absent. */
  readonly asOwnerOf?: string | undefined
  /** Whether there is a stream besides the three that programs have, with the number 3. */
  readonly withChannel: boolean
}

/** What is given to a program, and how it is followed. */
export interface SandboxWork {
  readonly stdin?: string | Buffer | undefined
  readonly timeoutMs: number
  readonly controls: RunControls
  readonly onChannel?: ((stream: Readable) => void) | undefined
}

/** A place for one run: taken once, or given up. */
export interface SandboxRun {
  run(work: SandboxWork): Promise<ProcessEnd>
  isAlive(): boolean
  discard(): Promise<void>
}

/** Makes places to run in, at the level that a tool asks for and the machine has; never at a lower one without saying so. */
export class Sandbox {
  readonly bounds: SandboxLimits
  readonly limits: ProcessLimits
  /** What the machine has, as self-tests find it. */
  readonly levels: Levels
  readonly #options: SandboxOptions
  #containment: Containment | undefined

  constructor(options: SandboxOptions) {
    this.#options = options
    this.bounds = readBounds(options.env)
    this.limits = { ...defaultLimits, ...options.limits }
    this.levels = new Levels(options.env, options.allowLimited ?? false)
    this.#containment = options.containment
  }

  /** Whether a tool could be run, as far as that is known without trying. */
  readiness(wanted: Level | undefined): Readiness {
    return this.levels.readiness(wanted)
  }

  /** The level a tool runs at: the one it asks for, or the best there is of those that are allowed. */
  levelFor(tool: string, wanted: Level | undefined): Promise<Level> {
    return this.levels.levelFor(tool, wanted)
  }

  /** Whether a run has the network; refused where its tool asks and no admin allowed it. */
  networkFor(tool: string, asked: boolean | undefined): boolean {
    if (asked !== true || this.#options.allowNetwork) return asked === true
    throw new TooldexError('POLICY_REFUSED', `${tool} asks for the network, which no admin has allowed here.`, {
      hint: 'Start with --allow-network or TOOLDEX_ALLOW_NETWORK=1, or take network out of the tool.',
    })
  }

  /** Whether tools that ask for the network get it. */
  get allowsNetwork(): boolean {
    return this.#options.allowNetwork ?? false
  }

  /** What hides the server from tools that run with limits only; absent where caller and owner are the same. */
  get shield(): Shield | undefined {
    return this.#options.shield
  }

  /** The folders of the machine that tools may use. */
  get folders(): readonly AllowedFolder[] {
    return this.#options.folders ?? []
  }

  /** A place whose program is only started when there is work for it. */
  async place(request: SandboxRequest): Promise<SandboxRun> {
    if (request.level === 'limited') return this.#limited(request)
    const cell = await (request.level === 'isolated' ? this.#isolated(request) : this.#confined(request))
    return { isAlive: () => true, run: (work) => this.#run(request, cell, work), discard: () => cell.close() }
  }

  /** A place whose program runs already and waits for its input; only where what it does follows from its input. */
  async warmPlace(request: SandboxRequest): Promise<SandboxRun> {
    const cell = await this.#isolated(request)
    const child = await startProcess({ ...toProcess(request), cwd: '/' }, cell, true)
    const isAlive = () => child.exitCode === null && child.signalCode === null
    child.on('error', () => {})
    holdProcess(child, false)
    return {
      isAlive,
      run: (work) => {
        holdProcess(child, true)
        return this.#run(request, { ...cell, waiting: child }, work)
      },
      async discard() {
        if (isAlive()) {
          holdProcess(child, true)
          cell.kill(child.pid as number, 'SIGKILL')
          await new Promise((resolve) => (isAlive() ? child.once('exit', resolve) : resolve(undefined)))
        }
        for (const stream of child.stdio) stream?.destroy()
        await cell.close()
      },
    }
  }

  async #isolated({ limits, network, mounts, env, cwd = workFolder, withChannel, asOwnerOf }: SandboxRequest) {
    const probed = await this.levels.isolated.run()
    if ('reason' in probed) throw new TooldexError('SANDBOX_MISSING', `There is no sandbox: ${probed.reason}.`)
    return isolatedSandbox(probed.made, { limits, network, mounts, env, cwd }, withChannel, ownerOf(asOwnerOf))
  }

  async #confined({ limits, network, mounts, env, cwd, withChannel, asOwnerOf }: SandboxRequest) {
    const probed = await this.levels.confined.run()
    if ('reason' in probed) throw new TooldexError('SANDBOX_MISSING', `There is no Landlock: ${probed.reason}.`)
    return confinedSandbox(probed.made, { limits, network, mounts, env, cwd }, withChannel, ownerOf(asOwnerOf))
  }

  async #run(request: SandboxRequest, cell: WrappedSandbox, work: SandboxWork): Promise<ProcessEnd> {
    const { stdin, timeoutMs, controls } = work
    const opening = listening(cell, work)
    const process = { ...toProcess(request), cwd: '/', stdin, timeoutMs }
    return cell.explain(await runProcess(process, this.limits, opening, controls))
  }

  async #limited(request: SandboxRequest): Promise<SandboxRun> {
    this.#containment ??= detectContainment()
    const prlimit = findProgram('prlimit', this.#options.env, '/')
    const bare = await limitedSandbox(this.#containment, prlimit, request.limits, request.withChannel)
    const cell = (await this.shield?.wrap(bare)) ?? bare
    const env = { HOME: cell.folder, TMPDIR: cell.folder, ...request.env }
    const cwd = request.cwd ?? cell.folder
    return {
      isAlive: () => true,
      run: (work) => {
        const { stdin, timeoutMs, controls } = work
        const process = { program: request.program, argv: request.argv, env, cwd, stdin, timeoutMs }
        return runProcess(process, this.limits, listening(cell, work), controls)
      },
      discard: () => cell.close(),
    }
  }
}

function ownerOf(folder: string | undefined): RunUser | undefined {
  if (folder === undefined) return undefined
  const { uid, gid } = statSync(folder)
  return { uid, gid }
}

type WrappedSandbox = IsolatedSandbox | ConfinedSandbox

/** What merely waits does not keep us from ending; it ends with us. */
function holdProcess(child: ChildProcess, hold: boolean): void {
  for (const each of [child, ...child.stdio])
    (each as { ref?(): void; unref?(): void } | null)?.[hold ? 'ref' : 'unref']?.()
}

const toProcess = ({ program, argv }: SandboxRequest) => ({ program, argv, env: {} })

/** Tells whoever waits for the result of its stream, as soon as there is one. */
function listening<C extends WrappedSandbox | LimitedSandbox>(cell: C, work: SandboxWork): C {
  const { onChannel } = work
  if (onChannel === undefined) return cell
  if (cell.waiting !== undefined) onChannel(cell.waiting.stdio[3] as Readable)
  return {
    ...cell,
    opened(child) {
      cell.opened?.(child)
      onChannel(child.stdio[3] as Readable)
    },
  }
}
