import type { Dispatcher } from 'undici'
import { TooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import type { Executor, Job, RunControls, RunnableTool } from '../../contract/executor.ts'
import type { RunOutcome } from '../../contract/run.ts'
import { ready } from '../../contract/tool-state.ts'
import { boundValues } from '../bound-values.ts'
import { Deadline } from '../network/deadline.ts'
import { checkHost, publicLookup } from '../network/guard-address.ts'
import { authHeader, maskedHeader } from './add-auth.ts'
import { type BuiltRequest, buildRequest } from './build-request.ts'
import { HttpConfig } from './check-config.ts'
import { mapResponse } from './map-response.ts'
import { type HttpResponse, send } from './send.ts'

const defaults = { timeoutMs: 30_000, maxBytes: 10 * 1024 * 1024, perHost: 16 }
const connection = { maxHeaderSize: 32 * 1024, connections: defaults.perHost, pipelining: 1 }

/** Loads the HTTP client, which takes long enough to delay the first call noticeably. */
export const loadHttpClient = lazyModule(() => import('undici'))

/** Runs tools that send an HTTP request. */
export function createHttpExecutor(): Executor {
  const loadAgents = lazyModule(openAgents)
  return {
    kind: 'http',
    readiness: () => ready,
    boundValues,
    deadlineMs: (job) => job.timeoutMs ?? readConfig(job).timeoutMs ?? defaults.timeoutMs,
    plan(job) {
      const config = readConfig(job)
      const { method, url, headers, body } = buildRequest(config, job.input)
      if (config.allowPrivate !== true) checkHost(url.hostname)
      const request = { method, url: url.href, headers: { ...headers, ...maskedHeader(config.auth) }, body }
      return {
        kind: 'http',
        isolation: 'none',
        timeoutMs: job.timeoutMs ?? config.timeoutMs ?? defaults.timeoutMs,
        request,
      }
    },
    async run(job, controls) {
      const config = readConfig(job)
      const built = buildRequest(config, job.input)
      const withTrace = job.traceparent === undefined ? built : traced(built, job.traceparent)
      const { anywhere, publicOnly } = await loadAgents()
      const dispatcher = config.allowPrivate === true ? anywhere : publicOnly
      return perform(config, withTrace, { ...controls, dispatcher, timeoutMs: job.timeoutMs ?? defaults.timeoutMs })
    },
  }
}

interface Agents {
  readonly publicOnly: Dispatcher
  readonly anywhere: Dispatcher
}

/** Loads the HTTP client with the first request; it ignores the proxy variables of the environment and checks every address. */
async function openAgents(): Promise<Agents> {
  const { Agent } = await loadHttpClient()
  return {
    publicOnly: new Agent({ ...connection, connect: { lookup: publicLookup, timeout: 10_000 } }),
    anywhere: new Agent({ ...connection, connect: { timeout: 10_000 } }),
  }
}

const configs = new WeakMap<object, HttpConfig>()

/** Cached, because every call reads the config several times. */
function readConfig({ tool }: Job): HttpConfig {
  const config = configs.get(tool.executorConfig) ?? parseConfig(tool)
  configs.set(tool.executorConfig, config)
  return config
}

function parseConfig(tool: RunnableTool): HttpConfig {
  const parsed = HttpConfig.safeParse(tool.executorConfig)
  if (parsed.success) return parsed.data
  throw new TooldexError('TOOL_INVALID', `${tool.name} has an invalid config.`)
}

const traced = (built: BuiltRequest, traceparent: string): BuiltRequest => ({
  ...built,
  headers: { ...built.headers, traceparent },
})

interface PerformOptions extends RunControls {
  readonly dispatcher: Dispatcher
  readonly timeoutMs: number
}

async function perform(config: HttpConfig, built: BuiltRequest, controls: PerformOptions): Promise<RunOutcome> {
  const started = performance.now()
  const deadline = new Deadline(controls.signal, controls.timeoutMs)
  let log = ''
  const note = (line: string): void => {
    log += line
    controls.onOutput?.('stdout', line)
  }
  const end = (part: Pick<RunOutcome, 'status' | 'errorCode' | 'errorMessage' | 'output'>): RunOutcome => {
    const durationMs = Math.round((performance.now() - started) * 10) / 10
    const result = { stdout: log, stderr: '', exitCode: null, signal: null, durationMs, truncated: false }
    const { status, errorCode, errorMessage, output } = part
    return { status, errorCode, errorMessage, output, result, isolation: 'none' }
  }
  try {
    const secretHeaders = await authHeader(config.auth, controls)
    const { dispatcher } = controls
    const { allowPrivate = false } = config
    const maxBytes = config.maxBytes ?? defaults.maxBytes
    const response = await send(built, {
      dispatcher,
      allowPrivate,
      secretHeaders,
      maxBytes,
      deadline,
      note,
    })
    return end(await toEnding(config, response, deadline.signal))
  } catch (error) {
    if (controls.signal?.aborted) return end(failed('CANCELLED', 'EXECUTION_CANCELLED', 'The request was cancelled'))
    if (deadline.isOver)
      return end(
        failed(
          'TIMEOUT',
          'EXECUTION_TIMEOUT',
          `The request timed out after ${(controls.timeoutMs / 1000).toFixed(1)}s`,
        ),
      )
    const { code, message } = toRefusal(error, built.url.host)
    return end(failed('FAILED', code, message))
  } finally {
    deadline.release()
  }
}

async function toEnding(config: HttpConfig, response: HttpResponse, signal: AbortSignal) {
  let output: unknown
  try {
    output = await mapResponse(config.response, response, signal)
  } catch (error) {
    if (!(error instanceof TooldexError) || signal.aborted) throw error
    // The raw response shows why it could not be mapped.
    return { ...failed('FAILED', error.code, `${error.message} ${error.hint}`), output: response.text }
  }
  if (response.status < 400) return { status: 'SUCCESS' as const, errorCode: null, errorMessage: null, output }
  const message = `${response.url.host} responded with status ${response.status}`
  return { ...failed('FAILED', 'HTTP_ERROR', message), output }
}

const failed = (status: RunOutcome['status'], errorCode: string, errorMessage: string) => ({
  status,
  errorCode,
  errorMessage,
  output: null,
})

/** The code and message of an error; of the request, the message contains only the host. */
function toRefusal(error: unknown, host: string): { code: string; message: string } {
  const ours = [error, (error as Error | undefined)?.cause].find((each) => each instanceof TooldexError)
  if (ours instanceof TooldexError) return { code: ours.code, message: `${ours.message} ${ours.hint}` }
  const { code = 'no response' } = error as NodeJS.ErrnoException
  return { code: 'HTTP_ERROR', message: `${host} could not be reached (${code})` }
}
