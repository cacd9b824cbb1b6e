import { createHash, randomBytes } from 'node:crypto'
import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import type { Problem } from '../../base/problem.ts'
import type { CheckOptions, Executor, RunControls } from '../../contract/executor.ts'
import type { RunOutcome, RunPlan } from '../../contract/run.ts'
import { type Call, defineExecutor, deriveOnce } from '../define-executor.ts'
import { findPython } from '../process/find-python.ts'
import { programText } from '../process/program-text.ts'
import { Capture } from '../process/run-process.ts'
import type { Sandbox, SandboxRequest, SandboxRun } from '../sandbox/sandbox.ts'
import { levelOf, resolveSandboxEnv } from '../sandbox/sandbox-config.ts'
import { limitsForSandbox } from '../sandbox/sandbox-limits.ts'
import { interpreterMounts } from '../sandbox/visible-program.ts'
import { defaultWarm, WarmSandboxes } from '../sandbox/warm-sandboxes.ts'
import { PythonConfig } from './check-python-script.ts'
import type { Environments, PythonEnvironment } from './environments.ts'
import { buildCommand } from './packages.ts'
import { readScriptResult, toScriptOutcome } from './script-outcome.ts'

/** The settings of the Python executor. */
interface PythonExecutorOptions {
  readonly sandbox: Sandbox
  readonly env: Environment
  readonly environments: Environments
  /** The number of warm interpreters; none in a process that makes a single call. */
  readonly warm?: number | undefined
}

const scriptRunner = programText('./script-runner.py', import.meta.url)
const defaults = { timeoutMs: 30_000, resultBytes: 16 * 1024 * 1024 }
/** The mount point of the packages of an environment. */
const packagesFolder = '/env'

/** Runs stored scripts: calls `main` with the arguments; its return value is the result. */
export function createPythonExecutor(options: PythonExecutorOptions): Executor {
  const { sandbox, environments, warm = 0 } = options
  const pool = warm > 0 ? new WarmSandboxes(sandbox, { ...defaultWarm, max: warm }) : undefined
  return defineExecutor({
    kind: 'python',
    config: PythonConfig,
    deadlineMs: ({ timeoutMs = defaults.timeoutMs }) => timeoutMs,
    readiness({ isolation, dependencies }) {
      if (findPython(options.env) === undefined)
        return { state: 'needs-program', reason: 'python3 is not installed on this host.' }
      if (dependencies !== undefined && !environments.has(dependencies))
        return { state: 'needs-program', reason: 'Its packages are not installed on this host.' }
      return sandbox.readiness(isolation)
    },
    isolationOf: ({ isolation }) => isolation ?? sandbox.levels.known,
    prepare(call) {
      const derive = deriveOnce(() => prepareScript(call, options))
      return {
        plan: async () => toPlan(await derive(), call),
        async run(controls) {
          const prepared = await derive()
          const { request } = prepared
          const env = await resolveSandboxEnv(call.config.env ?? {}, controls)
          const usePool = pool !== undefined && request.level === 'isolated'
          const run = usePool ? await pool.take(request) : await sandbox.prepare(request)
          return runScript({ ...prepared, env, call, run, sandbox }, controls)
        },
      }
    },
    check: (config, pointer, checkOptions) => checkPackages({ config, pointer, ...checkOptions }, options),
    close: async () => pool?.close(),
  })
}

interface Prepared {
  readonly script: string
  readonly request: SandboxRequest
  readonly environment: PythonEnvironment | undefined
}

async function prepareScript(call: Call<PythonConfig>, options: PythonExecutorOptions): Promise<Prepared> {
  const { tool, config } = call
  const { sandbox, env, environments } = options
  const script = tool.scriptContent ?? ''
  const python = findPython(env)
  if (script === '') throw new TooldexError('TOOL_INVALID', `${tool.name} has no script.`)
  if (python === undefined)
    throw new TooldexError('COMMAND_NOT_FOUND', 'The script cannot run, because python3 is not installed.', {
      hint: 'Install Python 3.9 or newer, or set TOOLDEX_PYTHON to its path.',
    })
  const level = await sandbox.levelFor(tool.name, levelOf(call, config.isolation))
  const environment = findEnvironment(config, environments)
  const request: SandboxRequest = {
    level,
    program: python,
    argv: [python, '-I', '-S', '-B', '-c', scriptRunner()],
    env: {},
    limits: limitsForSandbox(tool.name, config.limits, sandbox.bounds),
    network: sandbox.networkFor(tool.name, config.network),
    mounts: [
      ...interpreterMounts(python),
      ...(environment ? [{ source: environment.folder, target: packagesFolder }] : []),
    ],
    withChannel: true,
  }
  return { script, request, environment }
}

function findEnvironment({ environment, dependencies }: PythonConfig, environments: Environments) {
  if (dependencies !== undefined) return environments.findBuilt(dependencies)
  return environment === undefined ? undefined : environments.find(environment)
}

function toPlan({ script, request, environment }: Prepared, { config, deadlineMs }: Call<PythonConfig>): RunPlan {
  const sha256 = createHash('sha256').update(script).digest('hex')
  return {
    kind: 'python',
    isolation: request.level,
    timeoutMs: deadlineMs,
    argv: [...request.argv.slice(0, 4), 'script.py'],
    env: Object.keys(config.env ?? {}).sort(),
    script: { sha256, bytes: Buffer.byteLength(script), content: script },
    environment: environment === undefined ? null : labelOf(environment),
    // The level limited does not restrict the network.
    network: request.network || request.level === 'limited',
    limits: { ...request.limits },
  }
}

const labelOf = ({ name, fingerprint }: PythonEnvironment): string => `${name}@${fingerprint}`

interface Running extends Prepared {
  readonly env: Readonly<Record<string, string>>
  readonly call: Call<PythonConfig>
  readonly run: SandboxRun
  readonly sandbox: Sandbox
}

async function runScript(running: Running, controls: RunControls): Promise<RunOutcome> {
  const { request, run, environment, sandbox } = running
  const { deadlineMs: timeoutMs } = running.call
  const nonce = randomBytes(16).toString('hex')
  const flooded = new AbortController()
  const signal = AbortSignal.any([flooded.signal, ...(controls.signal === undefined ? [] : [controls.signal])])
  let channel: Capture | undefined
  const end = await run.run({
    stdin: toInput(running, nonce),
    timeoutMs,
    controls: { ...controls, signal },
    onChannel(stream) {
      const capture: Capture = new Capture(stream, defaults.resultBytes, () => {
        if (capture.bytes > defaults.resultBytes) flooded.abort()
      })
      channel = capture
    },
  })
  const { text = '', cut = false } = channel?.end() ?? {}
  const outcome = toScriptOutcome(end, {
    answer: cut ? { kind: 'too-large' } : await readScriptResult(text, nonce),
    timeoutMs,
    level: request.level,
    limits: request.limits,
    outputFactor: sandbox.limits.outputFactor,
  })
  return environment === undefined ? outcome : { ...outcome, environment: labelOf(environment) }
}

/** Everything is sent through a pipe, because other users of the machine can read the arguments of a process. */
function toInput({ script, request, environment, env, call }: Running, nonce: string): Buffer {
  const source = Buffer.from(script, 'utf8')
  const isolated = request.level === 'isolated'
  const path = environment === undefined ? null : isolated ? packagesFolder : environment.folder
  const head = JSON.stringify({ nonce, script: source.length, env, path })
  return Buffer.concat([Buffer.from(`${head}\n`), source, Buffer.from(JSON.stringify(call.input))])
}

interface Check extends CheckOptions {
  readonly config: unknown
  readonly pointer: string
}

/** With `prepare`, installs the packages of a tool or throws the reason; otherwise warns of missing packages. */
async function checkPackages(
  { config, pointer, prepare, signal }: Check,
  { environments, env }: { readonly environments: Environments; readonly env: Environment },
): Promise<readonly Problem[]> {
  const { dependencies, worker } = PythonConfig.safeParse(config).data ?? {}
  // A tool with a worker label may run on another host.
  if (dependencies === undefined || worker !== undefined || environments.has(dependencies)) return []
  const location = `${pointer}/dependencies`
  const hint = `activation installs them, or: ${buildCommand(dependencies)}`
  if (prepare !== true)
    return [
      { severity: 'warning', pointer: location, message: 'these packages are not installed on this host yet', hint },
    ]
  await environments.build(dependencies, { env, signal })
  return []
}
