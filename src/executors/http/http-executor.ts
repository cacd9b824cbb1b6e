import type { Dispatcher } from 'undici'
import { TooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import type { Executor, RunControls } from '../../contract/executor.ts'
import type { RunOutcome } from '../../contract/run.ts'
import { ready } from '../../contract/tool-state.ts'
import { defineExecutor, deriveOnce } from '../define-executor.ts'
import { checkHost, publicLookup } from '../network/guard-address.ts'
import { type Ending, failed, runRemote } from '../network/run-remote.ts'
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
  return defineExecutor({
    kind: 'http',
    config: HttpConfig,
    deadlineMs: ({ timeoutMs = defaults.timeoutMs }) => timeoutMs,
    readiness: () => ready,
    prepare({ config, input, deadlineMs }) {
      const derive = deriveOnce(() => buildRequest(config, input))
      return {
        async plan() {
          const { method, url, headers, body } = derive()
          if (config.allowPrivate !== true) checkHost(url.hostname)
          const request = { method, url: url.href, headers: { ...headers, ...maskedHeader(config.auth) }, body }
          return { kind: 'http', isolation: 'none', timeoutMs: deadlineMs, request }
        },
        async run(controls) {
          const built = derive()
          const { anywhere, publicOnly } = await loadAgents()
          const dispatcher = config.allowPrivate === true ? anywhere : publicOnly
          return perform({ config, deadlineMs, dispatcher, built: traced(built, controls.traceparent) }, controls)
        },
      }
    },
  })
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

const traced = (built: BuiltRequest, traceparent: string | undefined): BuiltRequest =>
  traceparent === undefined ? built : { ...built, headers: { ...built.headers, traceparent } }

interface Sending {
  readonly config: HttpConfig
  readonly built: BuiltRequest
  readonly dispatcher: Dispatcher
  readonly deadlineMs: number
}

function perform({ config, built, dispatcher, deadlineMs }: Sending, controls: RunControls): Promise<RunOutcome> {
  const { allowPrivate = false, maxBytes = defaults.maxBytes } = config
  let log = ''
  const note = (line: string): void => {
    log += line
    controls.onOutput?.('stdout', line)
  }
  return runRemote({
    subject: 'The request',
    isolation: 'none',
    deadlineMs,
    signal: controls.signal,
    async perform(deadline) {
      const secretHeaders = await authHeader(config.auth, controls)
      const response = await send(built, { dispatcher, allowPrivate, secretHeaders, maxBytes, deadline, note })
      return toEnding(config, response, deadline.signal)
    },
    failureCode: 'HTTP_ERROR',
    // Of the request, the message contains only the host.
    describe: (error) =>
      `${built.url.host} could not be reached (${(error as NodeJS.ErrnoException).code ?? 'no response'})`,
    textsOf: () => ({ stdout: log }),
  })
}

async function toEnding(config: HttpConfig, response: HttpResponse, signal: AbortSignal): Promise<Ending> {
  let output: unknown
  try {
    output = await mapResponse(config.response, response, signal)
  } catch (error) {
    if (!(error instanceof TooldexError) || signal.aborted) throw error
    // The raw response shows why it could not be mapped.
    return failed(`${error.message} ${error.hint}`, error.code, 'FAILED', response.text)
  }
  if (response.status < 400) return { status: 'SUCCESS', errorCode: null, errorMessage: null, output }
  return failed(`${response.url.host} responded with status ${response.status}`, 'HTTP_ERROR', 'FAILED', output)
}
