import type { Progress } from '@modelcontextprotocol/client'
import { TooldexError } from '../../base/errors.ts'
import { type Readiness, ready, secretsPage } from '../../contract/catalog.ts'
import {
  type Executor,
  type Job,
  type LogMessage,
  type MessageLevel,
  messageLevels,
  type RequestedInput,
  type RunControls,
  type RunnableTool,
} from '../../contract/executor.ts'
import type { UpstreamOffers } from '../../contract/mcp-server.ts'
import { sandboxOfServer } from '../../contract/mcp-server.ts'
import type { Isolation, RunOutcome } from '../../contract/run.ts'
import type { Redactor } from '../../contract/secret.ts'
import type { SourceRef } from '../../contract/source.ts'
import { findSecretReference } from '../../rules/server-definition.ts'
import { type Call, defineExecutor } from '../define-executor.ts'
import { type Ending, failed, runRemoteCall } from '../network/run-remote.ts'
import { checkUpstream, unknownServer } from './check-upstream.ts'
import { cut, describeFailure, nextStep } from './describe-failure.ts'
import { toOutput } from './message-threads.ts'
import { Offers } from './offers.ts'
import { isStdio, McpConfig } from './server-settings.ts'
import type { UsedUpstream } from './source-upstreams.ts'
import type { Upstream } from './upstream.ts'
import { Upstreams, type UpstreamsOptions } from './upstreams.ts'

/** The settings of the MCP executor. */
export interface McpExecutorOptions extends UpstreamsOptions {
  /** Creates a redactor for the secrets that a server definition contains. */
  readonly redactorFor?: ((declared: Readonly<Record<string, string>>) => Redactor) | undefined
}

const defaultTimeoutMs = 60_000

/** The executor of tools of MCP servers. */
export interface McpExecutor extends Executor {
  readonly upstreams: Upstreams
  /** The prompts and resources of the servers. */
  readonly offers: UpstreamOffers
  /** Replaces the server definitions. */
  replaceServers(servers: McpExecutorOptions['servers']): void
}

/** Runs tools that belong to other MCP servers. */
export function createMcpExecutor(options: McpExecutorOptions): McpExecutor {
  const upstreams = new Upstreams(options)
  const redactors = new Map<string, Redactor>()
  const redactorsOf = (server: string): readonly Redactor[] => {
    const own = redactors.get(server) ?? options.redactorFor?.(declaredBy(upstreams, server))
    if (own !== undefined) redactors.set(server, own)
    return [...(own === undefined ? [] : [own]), options.secrets.redact]
  }
  const offers = new Offers(upstreams, redactorsOf)
  const isolationOf = (server: string, { source }: RunnableTool): Isolation => {
    const found = upstreams.servers.get(server)
    const ofHost = found !== undefined && isStdio(found) ? (sandboxOfServer(found) ?? 'limited') : 'none'
    const level = source?.isolation ?? ofHost
    return level === 'best' ? (options.sandbox?.levels.known ?? 'isolated') : level
  }
  const find = async (server: string, { tool: { source }, caller }: Job): Promise<UsedUpstream | undefined> => {
    if (source !== undefined) return upstreams.sources?.of(source, caller)
    const upstream = upstreams.of(server)
    return upstream && { upstream, tokens: undefined }
  }
  const executor = defineExecutor({
    kind: 'mcp',
    config: McpConfig,
    deadlineMs: ({ server, timeoutMs }) => timeoutMs ?? upstreams.servers.get(server)?.timeoutMs ?? defaultTimeoutMs,
    readiness({ server }, { source }) {
      const upstream = source === undefined ? upstreams.of(server) : upstreams.sources?.known(source)
      // The server of a source is started by its first call.
      if (upstream === undefined && source !== undefined) return ready
      if (upstream === undefined) return { state: 'upstream-down', reason: unknownServer(server) }
      if (upstream.denied !== undefined) return credentialsOf(upstreams, server, upstream.denied)
      const { refusedUntil: until, why } = upstream.circuit
      if (until === undefined) return ready
      const reason = `${server} ${why}; next attempt at ${until.toISOString()}`
      return { state: 'upstream-down', reason, ...upstream.record }
    },
    isolationOf: ({ server }, tool) => isolationOf(server, tool),
    prepare(call) {
      const { config, input, deadlineMs: timeoutMs, tool: called } = call
      const { server, tool } = config
      return {
        async plan() {
          if ((await find(server, call)) === undefined)
            throw new TooldexError('UPSTREAM_UNKNOWN', unknownServer(server))
          const upstream = { server, tool, arguments: { ...input } }
          return { kind: 'mcp', isolation: isolationOf(server, called), timeoutMs, upstream }
        },
        run: (controls) => perform(() => find(server, call), call, isolationOf(server, called), controls),
      }
    },
    check: (config, pointer, checkOptions) => checkUpstream(upstreams, config, pointer, checkOptions),
    close: () => upstreams.close(),
  })
  return {
    ...executor,
    redactorsFor: ({ executorConfig: { server }, source }) =>
      source === undefined ? redactorsOf(String(server)) : redactorsOfSource(upstreams, source),
    upstreams,
    offers,
    replaceServers(servers) {
      upstreams.replace(servers)
      offers.forget()
      redactors.clear()
    },
  }
}

/** The server definition refers to secrets, or a person signs in at the server. */
function credentialsOf({ servers }: Upstreams, name: string, why: string): Readiness {
  const server = servers.get(name)
  const values = server === undefined ? [] : Object.values(isStdio(server) ? server.env : server.headers)
  const isStored = values.some((value) => findSecretReference(value) !== undefined)
  const url = isStored || server === undefined || isStdio(server) ? secretsPage : server.url
  return { state: 'needs-credentials', reason: `${name} ${why}`, url }
}

/** The variables and headers of a definition; the redactor recognizes secrets by their names. */
function declaredBy({ servers }: Upstreams, name: string): Record<string, string> {
  const server = servers.get(name)
  if (server === undefined) return {}
  if (isStdio(server)) return server.env
  const headers = Object.entries(server.headers).map(([header, value]) => {
    const variable = header.toLowerCase() === 'authorization' ? 'AUTHORIZATION_TOKEN' : header.replaceAll('-', '_')
    return [variable, value.replace(/^(?:Bearer|Basic|Token) /i, '')]
  })
  return Object.fromEntries(headers)
}

const redactorsOfSource = ({ sources }: Upstreams, { workspace }: SourceRef): readonly Redactor[] =>
  sources === undefined ? [] : [sources.secretsOf(workspace).redact]

function perform(
  find: () => Promise<UsedUpstream | undefined>,
  { config: { server, tool }, input, tool: { outputSchema, annotations, source }, deadlineMs, ...job }: Call<McpConfig>,
  isolation: Isolation,
  controls: RunControls,
): Promise<RunOutcome> {
  const { signal, traceparent } = controls
  const log = new RunLog(server, controls)
  const caller = JSON.stringify([job.workspace, job.caller])
  const isRepeatable = annotations.readOnlyHint === true || annotations.idempotentHint === true
  let upstream: Upstream | undefined
  let before = 0
  return runRemoteCall({
    subject: 'The call',
    isolation,
    deadlineMs,
    signal,
    async perform(deadline) {
      const used = await find()
      upstream = used?.upstream
      if (upstream === undefined) return failed(unknownServer(server), 'UPSTREAM_UNKNOWN')
      before = countIgnored(upstream)
      const { callerInput } = controls
      const call = {
        ...{ tool, input, caller, traceparent, callerInput, isRepeatable },
        ...{ onProgress: log.take, onLog: log.takeMessage, logLevel: log.level },
      }
      // The server may return the token that it gets.
      const hideTokens = () => used?.tokens?.used.forEach((token) => void controls.hide?.('sign-in', token))
      hideTokens()
      const result = await upstream.call(call, deadline.signal).catch(needOf).finally(hideTokens)
      if ('requiredCapabilities' in result)
        return missingCapability(`${tool} of ${server}`, result as MissingCapability)
      if (isRequested(result)) return inputRequired(`${tool} of ${server}`, result)
      const { output, truncated, message, isError } = await toOutput(result, Object.keys(outputSchema).length > 0)
      if (!isError) return { status: 'SUCCESS', errorCode: null, errorMessage: null, output, truncated }
      return { ...failed(`${tool} of ${server} failed: ${message}`, 'UPSTREAM_ERROR', 'FAILED', output), truncated }
    },
    failureCode: 'UPSTREAM_ERROR',
    describe: (error) =>
      `The MCP server '${server}' ${describeFailure(error)}${nextStep(error, server, source !== undefined)}.`,
    textsOf({ status }, durationMs) {
      const ignored = countIgnored(upstream) - before
      if (ignored > 0) log.note(`${ignored} messages of ${server} were ignored: they match no request\n`)
      return { stdout: `${server}: ${tool} ${status} (${Math.round(durationMs)} ms)\n`, stderr: log.text }
    },
  })
}

const isRequested = (result: object): result is RequestedInput => 'inputRequests' in result

const inputRequired = (subject: string, requested: RequestedInput): Ending =>
  failed(`${subject} requests input from its caller.`, 'INPUT_REQUIRED', 'FAILED', requested)

// The protocol has no other error with this code.
const missingCapabilityCode = -32021

interface MissingCapability {
  readonly requiredCapabilities: Readonly<Record<string, unknown>>
}

/** The capabilities of clients that an upstream requires, if that is the reason of an error. */
function needOf(error: unknown): MissingCapability {
  const { code, data } = error as { code?: unknown; data?: Partial<MissingCapability> }
  if (code !== missingCapabilityCode || data?.requiredCapabilities === undefined) throw error
  return { requiredCapabilities: data.requiredCapabilities }
}

function missingCapability(subject: string, { requiredCapabilities }: MissingCapability): Ending {
  const names = Object.keys(requiredCapabilities).join(', ').slice(0, 200)
  const message = `${subject} needs a client with the capabilities: ${names}.`
  return failed(message, 'INPUT_REQUIRED', 'FAILED', { requiredCapabilities })
}

const countIgnored = (upstream: Upstream | undefined): number => {
  const { malformed = 0, unexpected = 0 } = upstream?.connection?.ignored ?? {}
  return malformed + unexpected
}

const maxBytes = 64 * 1024
const publishIntervalMs = 250
const maxLogged = 1000

/** The bounded log of a run: its progress, and the log messages of its server. */
class RunLog {
  text = ''
  readonly level: MessageLevel
  readonly #server: string
  readonly #controls: RunControls
  #publishedAt = 0
  #steps = 0
  #logged = 0

  constructor(server: string, controls: RunControls) {
    this.#server = server
    this.#controls = controls
    this.level = controls.callerInput?.logLevel ?? 'info'
    // The record has what most readers look for, whatever the client wants.
    if (messageLevels.indexOf(this.level) > messageLevels.indexOf('info')) this.level = 'info'
  }

  /** Records and forwards a progress notification of a server. */
  readonly take = ({ progress, total, message }: Progress): void => {
    this.#steps++
    const of = total === undefined ? '' : ` of ${total}`
    this.note(`progress ${progress}${of}${message === undefined ? '' : `: ${cut(message)}`}\n`)
    const now = performance.now()
    if (now - this.#publishedAt < publishIntervalMs && this.#publishedAt > 0) return
    this.#publishedAt = now
    this.#controls.onProgress?.(this.#steps)
  }

  /** Records and forwards a log message of a server. */
  readonly takeMessage = (message: LogMessage): void => {
    const { level, data } = message
    if (messageLevels.indexOf(level) < messageLevels.indexOf(this.level)) return
    if (++this.#logged > maxLogged) return
    const logger = message.logger === '' ? this.#server : `${this.#server}/${message.logger}`
    const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? 'null')
    this.note(`[${level}] ${cut(logger)}: ${cut(text)}\n`, { level, logger, data })
    if (this.#logged === maxLogged) this.note(`further log messages of ${this.#server} were left out\n`)
  }

  note(line: string, message?: LogMessage): void {
    if (this.text.length + line.length > maxBytes) return
    this.text += line
    this.#controls.onOutput?.('stderr', line, message)
  }
}
