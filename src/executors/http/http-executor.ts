import { isUtf8 } from 'node:buffer'
import { TooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import { ready } from '../../contract/catalog.ts'
import type { Executor, RunControls } from '../../contract/executor.ts'
import type { RunOutcome } from '../../contract/run.ts'
import { findInJsonText, readJsonPart } from '../../json-schema/offload/json-work.ts'
import { defineExecutor, deriveOnce } from '../define-executor.ts'
import { checkHostAddress, publicLookup } from '../network/guard-address.ts'
import { type Ending, failed, runRemoteCall } from '../network/run-remote.ts'
import {
  type BuiltRequest,
  buildRequest,
  credentialsIn,
  maskedSecrets,
  resolveRequestSecrets,
} from './build-request.ts'
import { HttpConfig } from './check-config.ts'
import { type Agents, type HttpResponse, sendHttpRequest, withQueryParameters } from './send-http-request.ts'

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
    secretsOf: ({ auth }) => credentialsIn(auth).map(({ secret }) => secret),
    prepare({ config, input, deadlineMs }) {
      const derive = deriveOnce(() => buildRequest(config, input))
      return {
        async plan() {
          const { method, url, headers, body } = derive()
          if (config.allowPrivate !== true) checkHostAddress(url.hostname)
          const secrets = maskedSecrets(config.auth)
          const request = {
            method,
            url: withQueryParameters(url, secrets.query).href,
            headers: { ...headers, ...secrets.headers },
            body: body === null ? null : shownBody(body),
          }
          return { kind: 'http', isolation: 'none', timeoutMs: deadlineMs, request }
        },
        async run(controls) {
          const built = derive()
          const agents = await loadAgents()
          return perform({ config, deadlineMs, agents, built: traced(built, controls.traceparent) }, controls)
        },
      }
    },
  })
}

/** Loads the HTTP client with the first request; it ignores the proxy variables of the environment and checks every address. */
async function openAgents(): Promise<Agents> {
  const { Agent } = await loadHttpClient()
  return {
    publicOnly: new Agent({ ...connection, connect: { lookup: publicLookup, timeout: 10_000 } }),
    anywhere: new Agent({ ...connection, connect: { timeout: 10_000 } }),
  }
}

/** The body of a plan; bytes that are not text are only counted. */
function shownBody(body: string | Buffer): string {
  if (typeof body === 'string') return body
  return isUtf8(body) ? body.toString('utf8') : `[${body.length} bytes]`
}

const traced = (built: BuiltRequest, traceparent: string | undefined): BuiltRequest =>
  traceparent === undefined ? built : { ...built, headers: { ...built.headers, traceparent } }

interface Sending {
  readonly config: HttpConfig
  readonly built: BuiltRequest
  readonly agents: Agents
  readonly deadlineMs: number
}

function perform({ config, built, agents, deadlineMs }: Sending, controls: RunControls): Promise<RunOutcome> {
  const { allowPrivate, maxBytes = defaults.maxBytes } = config
  const privateHost = allowPrivate === true ? built.url.hostname : undefined
  let log = ''
  const note = (line: string): void => {
    log += line
    controls.onOutput?.('stdout', line)
  }
  return runRemoteCall({
    subject: 'The request',
    isolation: 'none',
    deadlineMs,
    signal: controls.signal,
    async perform(deadline) {
      const secrets = await resolveRequestSecrets(config.auth, controls)
      const response = await sendHttpRequest(built, { agents, privateHost, secrets, maxBytes, deadline, note })
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
    return failed(`${error.message} ${error.hint}`, error.code, 'FAILED', response.bytes.toString('utf8'))
  }
  if (response.status < 400) return { status: 'SUCCESS', errorCode: null, errorMessage: null, output }
  return failed(`${response.url.host} responded with status ${response.status}`, 'HTTP_ERROR', 'FAILED', output)
}

/** The result of a call: the configured part of the response. */
async function mapResponse(
  config: HttpConfig['response'],
  { headers, bytes, status }: HttpResponse,
  signal?: AbortSignal,
): Promise<unknown> {
  const contentType = String(headers['content-type'] ?? '')
  const isJson = config?.type === 'json' || (config?.type === undefined && /[/+]json\b/i.test(contentType))
  if (bytes.length === 0) return null
  const isBinary = config === undefined && !isJson && !isUtf8(bytes)
  if (isBinary) return { mimeType: contentType.replace(/;.*/s, '').trim(), base64: bytes.toString('base64') }
  const text = bytes.toString('utf8')
  if (!isJson && config?.pointer === undefined && config?.path === undefined) return text
  // Error responses have a shape of their own.
  if (status < 400 && config?.path !== undefined) return find(text, config.path, signal)
  return read(text, status >= 400 ? undefined : config?.pointer, { status, signal })
}

/** Small responses and plain paths run inline, all others in a worker thread: a path can be slow even on a small text. */
async function find(text: string, path: string, signal: AbortSignal | undefined): Promise<unknown> {
  const found = await findInJsonText(text, path, signal)
  if (found === undefined) throw notJson()
  return found
}

async function read(
  text: string,
  pointer: string | undefined,
  { status, signal }: { readonly status: number; readonly signal: AbortSignal | undefined },
): Promise<unknown> {
  const found = await readJsonPart(text, pointer ?? '', { signal })
  if ('value' in found) return found.value
  if (found.missing === 'part') throw new TooldexError('HTTP_ERROR', `The response has no value at ${pointer}.`)
  if (status >= 400) return text
  throw notJson()
}

const notJson = (): TooldexError =>
  new TooldexError('HTTP_ERROR', 'The response is not JSON, but the tool expects JSON.')
