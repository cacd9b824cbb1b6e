import { TooldexError } from '../../base/errors.ts'
import { redactValue } from '../../base/redact-value.ts'
import type { Executor, Job, RunControls, RunnableTool } from '../../contract/executor.ts'
import type { RunOutcome } from '../../contract/run.ts'
import { ready } from '../../contract/tool-state.ts'
import { boundValues } from '../bound-values.ts'
import { Deadline } from '../network/deadline.ts'
import { McpConfig } from './check-config.ts'
import { checkUpstream, unknownServer } from './check-upstream.ts'
import { causesOf, describeFailure } from './describe-failure.ts'
import { mapResult } from './map-result.ts'
import { ProgressLog } from './progress-log.ts'
import { isStdio } from './server-settings.ts'
import type { Upstream } from './upstream.ts'
import { Upstreams, type UpstreamsOptions } from './upstreams.ts'

/** The settings of the MCP executor. */
export interface McpExecutorOptions extends UpstreamsOptions {
  /** Creates a redactor for the secrets that a server definition contains. */
  readonly redactorFor?: ((declared: Readonly<Record<string, string>>) => (text: string) => string) | undefined
}

const defaultTimeoutMs = 60_000

/** The executor of tools of MCP servers. */
export interface McpExecutor extends Executor {
  readonly upstreams: Upstreams
  /** Replaces the server definitions. */
  replaceServers(servers: McpExecutorOptions['servers']): void
}

/** Runs tools that belong to other MCP servers. */
export function createMcpExecutor(options: McpExecutorOptions): McpExecutor {
  const upstreams = new Upstreams(options)
  const redactors = new Map<string, (text: string) => string>()
  const redactorOf = (server: string): ((text: string) => string) => {
    const own = redactors.get(server) ?? options.redactorFor?.(declaredBy(upstreams, server)) ?? ((text) => text)
    redactors.set(server, own)
    return (text) => options.secrets.redact(own(text))
  }
  const deadlineMs = (job: Job): number => {
    const { server, timeoutMs } = readConfig(job)
    return job.timeoutMs ?? timeoutMs ?? upstreams.servers.get(server)?.timeoutMs ?? defaultTimeoutMs
  }
  const isolationOf = (server: string) => {
    const found = upstreams.servers.get(server)
    return found !== undefined && isStdio(found) ? 'limited' : 'none'
  }
  return {
    kind: 'mcp',
    upstreams,
    replaceServers(servers) {
      upstreams.replace(servers)
      redactors.clear()
    },
    readiness({ executorConfig: { server } }) {
      const upstream = upstreams.of(String(server))
      if (upstream === undefined) return { state: 'upstream-down', reason: unknownServer(String(server)) }
      const until = upstream.circuit.refusedUntil
      if (until === undefined) return ready
      return {
        state: 'upstream-down',
        reason: `${server} ${upstream.circuit.why}; next attempt at ${until.toISOString()}`,
      }
    },
    isolationOf: ({ executorConfig: { server } }) => isolationOf(String(server)),
    boundValues,
    deadlineMs,
    plan(job) {
      const { server, tool } = readConfig(job)
      if (!upstreams.servers.has(server)) throw new TooldexError('UPSTREAM_UNKNOWN', unknownServer(server))
      const upstream = { server, tool, arguments: { ...job.input } }
      return { kind: 'mcp', isolation: isolationOf(server), timeoutMs: deadlineMs(job), upstream }
    },
    async run(job, controls) {
      const { server } = readConfig(job)
      const redact = redactorOf(server)
      const onOutput: RunControls['onOutput'] = (stream, text) => controls.onOutput?.(stream, redact(text))
      const runOptions = { ...controls, onOutput, timeoutMs: deadlineMs(job) }
      const outcome = await perform(upstreams.of(server), job, runOptions)
      return redacted({ ...outcome, isolation: isolationOf(server) }, redact)
    },
    check: (config, pointer, options) => checkUpstream(upstreams, config, pointer, options?.signal),
    close: () => upstreams.close(),
  }
}

const configs = new WeakMap<object, McpConfig>()

/** Cached, because every call reads the config several times. */
function readConfig({ tool }: Job): McpConfig {
  const config = configs.get(tool.executorConfig) ?? parseConfig(tool)
  configs.set(tool.executorConfig, config)
  return config
}

function parseConfig(tool: RunnableTool): McpConfig {
  const parsed = McpConfig.safeParse(tool.executorConfig)
  if (parsed.success) return parsed.data
  throw new TooldexError('TOOL_INVALID', `${tool.name} has an invalid config.`)
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

interface PerformOptions extends RunControls {
  readonly timeoutMs: number
}

type Ending = Pick<RunOutcome, 'status' | 'errorCode' | 'errorMessage' | 'output'> & { readonly truncated?: boolean }

async function perform(
  upstream: Upstream | undefined,
  job: Job,
  options: PerformOptions,
): Promise<Omit<RunOutcome, 'isolation'>> {
  const { server, tool } = readConfig(job)
  const started = performance.now()
  const log = new ProgressLog(options)
  const before = countIgnored(upstream)
  const end = ({ truncated = false, ...part }: Ending): Omit<RunOutcome, 'isolation'> => {
    const durationMs = Math.round((performance.now() - started) * 10) / 10
    const ignored = countIgnored(upstream) - before
    if (ignored > 0) log.note(`${ignored} messages of ${server} were ignored: they match no request\n`)
    const stdout = `${server}: ${tool} ${part.status} (${Math.round(durationMs)} ms)\n`
    const result = { stdout, stderr: log.text, exitCode: null, signal: null, durationMs, truncated }
    return { ...part, result }
  }
  if (upstream === undefined) return end(failed('FAILED', 'UPSTREAM_UNKNOWN', unknownServer(server)))
  const deadline = new Deadline(options.signal, options.timeoutMs)
  try {
    const { input, traceparent } = job
    const result = await upstream.call({ tool, input, traceparent, onProgress: log.take }, deadline.signal)
    const { output, truncated, message, isError } = mapResult(result, Object.keys(job.tool.outputSchema).length > 0)
    if (isError)
      return end({
        ...failed('FAILED', 'UPSTREAM_ERROR', `${tool} of ${server} failed: ${message}`),
        output,
        truncated,
      })
    return end({ status: 'SUCCESS', errorCode: null, errorMessage: null, output, truncated })
  } catch (error) {
    if (options.signal?.aborted) return end(failed('CANCELLED', 'EXECUTION_CANCELLED', 'The call was cancelled'))
    if (deadline.isOver)
      return end(
        failed('TIMEOUT', 'EXECUTION_TIMEOUT', `The call timed out after ${(options.timeoutMs / 1000).toFixed(1)}s`),
      )
    const { code, message } = toRefusal(error, server)
    return end(failed('FAILED', code, message))
  } finally {
    deadline.release()
  }
}

const countIgnored = (upstream: Upstream | undefined): number => {
  const { malformed = 0, unexpected = 0 } = upstream?.connection?.ignored ?? {}
  return malformed + unexpected
}

const failed = (status: RunOutcome['status'], errorCode: string, errorMessage: string): Ending => ({
  status,
  errorCode,
  errorMessage,
  output: null,
})

function toRefusal(error: unknown, server: string): { code: string; message: string } {
  const ours = causesOf(error).find((each) => each instanceof TooldexError)
  if (ours instanceof TooldexError) return { code: ours.code, message: `${ours.message} ${ours.hint}` }
  return { code: 'UPSTREAM_ERROR', message: `The MCP server '${server}' ${describeFailure(error)}.` }
}

function redacted(outcome: RunOutcome, redact: (text: string) => string): RunOutcome {
  const { stdout, stderr } = outcome.result
  return {
    ...outcome,
    result: { ...outcome.result, stdout: redact(stdout), stderr: redact(stderr) },
    output: redactValue(outcome.output, redact),
    errorMessage: outcome.errorMessage === null ? null : redact(outcome.errorMessage),
  }
}
