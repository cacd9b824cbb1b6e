import type { ChildProcess } from 'node:child_process'
import { statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import type { Readiness } from '../../contract/catalog.ts'
import type { RunControls } from '../../contract/executor.ts'
import { type Containment, detectContainment, type ProcessScope } from '../process/containment.ts'
import { findProgram } from '../process/find-program.ts'
import { defaultLimits, type ProcessLimits } from '../process/limits.ts'
import { type ProcessEnd, runProcess, startProcess } from '../process/run-process.ts'
import type { AllowedFolder } from './allowed-folders.ts'
import { type Mount, workFolder } from './bubblewrap-arguments.ts'
import { type ConfinedSandbox, confinedSandbox } from './confined-sandbox.ts'
import { type IsolatedSandbox, isolatedSandbox, type RunUser } from './isolated-sandbox.ts'
import { Levels } from './levels.ts'
import { type LimitedSandbox, limitedSandbox } from './limited-sandbox.ts'
import type { Level } from './sandbox-config.ts'
import { readSandboxLimits, type SandboxLimits } from './sandbox-limits.ts'
import type { Shield } from './shield.ts'

/** The decisions of the operator. */
interface SandboxOptions {
  readonly env: Environment
  /** Whether tools may run with limits only, if they request it or no sandbox is available. */
  readonly allowLimited?: boolean | undefined
  /** Whether tools that request network access get it. */
  readonly allowNetwork?: boolean | undefined
  /** Folders of the machine that tools may use. */
  readonly folders?: readonly AllowedFolder[] | undefined
  /** Hides the server from tools that run with limits only. */
  readonly shield?: Shield | undefined
  readonly limits?: Partial<ProcessLimits> | undefined
  readonly containment?: Containment | undefined
}

/** A program to run in a sandbox. */
export interface SandboxRequest {
  readonly level: Level
  readonly program: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** A fresh folder where absent. */
  readonly cwd?: string | undefined
  readonly limits: SandboxLimits
  readonly network: boolean
  /** Used by sandboxed runs only; a limited run has access to everything. */
  readonly mounts: readonly Mount[]
  /** A server that is root runs it as the owner of this folder, and as a user that owns nothing where absent. */
  readonly asOwnerOf?: string | undefined
  /** Whether the program has an additional stream with the number 3. */
  readonly withChannel: boolean
}

/** The input of a program, and the callbacks for its output. */
interface SandboxWork {
  readonly stdin?: string | Buffer | undefined
  readonly timeoutMs: number
  readonly controls: RunControls
  readonly onChannel?: ((stream: Readable) => void) | undefined
}

/** A prepared run: run once, or discarded. */
export interface SandboxRun {
  run(work: SandboxWork): Promise<ProcessEnd>
  isAlive(): boolean
  discard(): Promise<void>
}

/** Prepares runs at the isolation level of their tools; never at a lower level than requested. */
export class Sandbox {
  readonly bounds: SandboxLimits
  readonly limits: ProcessLimits
  /** The levels of the machine, as found by self-tests. */
  readonly levels: Levels
  readonly #options: SandboxOptions
  #containment: Containment | undefined

  constructor(options: SandboxOptions) {
    this.#options = options
    this.bounds = readSandboxLimits(options.env)
    this.limits = { ...defaultLimits, ...options.limits }
    this.levels = new Levels(options.env, options.allowLimited ?? false)
    this.#containment = options.containment
  }

  /** Whether a tool can run, as far as it is known without a self-test. */
  readiness(requested: Level | undefined): Readiness {
    return this.levels.readiness(requested)
  }

  /** The level of a tool: the requested one, or the best that is available and allowed. */
  levelFor(tool: string, requested: Level | undefined): Promise<Level> {
    return this.levels.levelFor(tool, requested)
  }

  /** Whether a run has network access; throws if its tool requests it and the operator does not allow it. */
  networkFor(tool: string, requested: boolean | undefined): boolean {
    if (requested !== true || this.#options.allowNetwork) return requested === true
    throw new TooldexError('POLICY_REFUSED', `${tool} requests network access, which is not allowed on this server.`, {
      hint: 'Start with --allow-network or TOOLDEX_ALLOW_NETWORK=1, or remove network from the tool.',
    })
  }

  /** Whether tools that request network access get it. */
  get allowsNetwork(): boolean {
    return this.#options.allowNetwork ?? false
  }

  /** Hides the server from tools that run with limits only; absent if the caller owns the server. */
  get shield(): Shield | undefined {
    return this.#options.shield
  }

  /** The folders of the machine that tools may use. */
  get folders(): readonly AllowedFolder[] {
    return this.#options.folders ?? []
  }

  /** The scope of a long-lived program, which its caller starts. */
  openScope(request: SandboxRequest): Promise<ProcessScope> {
    return request.level === 'isolated' ? this.#isolated(request) : this.#confined(request)
  }

  /** A run whose program is started with its input. */
  async prepare(request: SandboxRequest): Promise<SandboxRun> {
    if (request.level === 'limited') return this.#limited(request)
    const scope = await (request.level === 'isolated' ? this.#isolated(request) : this.#confined(request))
    return { isAlive: () => true, run: (work) => this.#run(request, scope, work), discard: () => scope.close() }
  }

  /** A run whose program is started already and waits for its input; only for programs that depend on nothing but their input. */
  async prepareWarm(request: SandboxRequest): Promise<SandboxRun> {
    const scope = await this.#isolated(request)
    const child = await startProcess({ ...toProcess(request), cwd: '/' }, scope, true)
    const isAlive = () => child.exitCode === null && child.signalCode === null
    child.on('error', () => {})
    keepAlive(child, false)
    return {
      isAlive,
      run: (work) => {
        keepAlive(child, true)
        return this.#run(request, { ...scope, waiting: child }, work)
      },
      async discard() {
        if (isAlive()) {
          keepAlive(child, true)
          scope.kill(child.pid as number, 'SIGKILL')
          await new Promise((resolve) => (isAlive() ? child.once('exit', resolve) : resolve(undefined)))
        }
        for (const stream of child.stdio) stream?.destroy()
        await scope.close()
      },
    }
  }

  async #isolated({ limits, network, mounts, env, cwd = workFolder, withChannel, asOwnerOf }: SandboxRequest) {
    const probed = await this.levels.isolated.run()
    if ('reason' in probed) throw new TooldexError('SANDBOX_MISSING', `Bubblewrap is not available: ${probed.reason}.`)
    return isolatedSandbox(probed.made, { limits, network, mounts, env, cwd }, withChannel, ownerOf(asOwnerOf))
  }

  async #confined({ limits, network, mounts, env, cwd, withChannel, asOwnerOf }: SandboxRequest) {
    const probed = await this.levels.confined.run()
    if ('reason' in probed) throw new TooldexError('SANDBOX_MISSING', `Landlock is not available: ${probed.reason}.`)
    return confinedSandbox(probed.made, { limits, network, mounts, env, cwd }, withChannel, ownerOf(asOwnerOf))
  }

  async #run(request: SandboxRequest, scope: WrappedSandbox, work: SandboxWork): Promise<ProcessEnd> {
    const { stdin, timeoutMs, controls } = work
    const opening = withChannelListener(scope, work)
    const process = { ...toProcess(request), cwd: '/', stdin, timeoutMs }
    return scope.explain(await runProcess(process, this.limits, opening, controls))
  }

  async #limited(request: SandboxRequest): Promise<SandboxRun> {
    this.#containment ??= detectContainment()
    const prlimit = findProgram('prlimit', this.#options.env, '/')
    const unshielded = await limitedSandbox(this.#containment, prlimit, request.limits, request.withChannel)
    const scope = (await this.shield?.wrap(unshielded)) ?? unshielded
    const env = { HOME: scope.folder, TMPDIR: scope.folder, ...request.env }
    const cwd = request.cwd ?? scope.folder
    return {
      isAlive: () => true,
      run: (work) => {
        const { stdin, timeoutMs, controls } = work
        const process = { program: request.program, argv: request.argv, env, cwd, stdin, timeoutMs }
        return runProcess(process, this.limits, withChannelListener(scope, work), controls)
      },
      discard: () => scope.close(),
    }
  }
}

function ownerOf(folder: string | undefined): RunUser | undefined {
  if (folder === undefined) return undefined
  const { uid, gid } = statSync(folder)
  return { uid, gid }
}

type WrappedSandbox = IsolatedSandbox | ConfinedSandbox

/** A waiting process does not keep this process alive; it ends with it. */
function keepAlive(child: ChildProcess, alive: boolean): void {
  for (const each of [child, ...child.stdio])
    (each as { ref?(): void; unref?(): void } | null)?.[alive ? 'ref' : 'unref']?.()
}

const toProcess = ({ program, argv }: SandboxRequest) => ({ program, argv, env: {} })

/** Calls `onChannel` with the result stream as soon as the process exists. */
function withChannelListener<C extends WrappedSandbox | LimitedSandbox>(scope: C, work: SandboxWork): C {
  const { onChannel } = work
  if (onChannel === undefined) return scope
  if (scope.waiting !== undefined) onChannel(scope.waiting.stdio[3] as Readable)
  return {
    ...scope,
    opened(child) {
      scope.opened?.(child)
      onChannel(child.stdio[3] as Readable)
    },
  }
}
