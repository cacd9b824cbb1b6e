import { type Environment, expandHome } from '../../base/expand-variables.ts'
import { sameJson } from '../../base/json-values.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import { type HttpServer, type McpServer, type StdioServer, sandboxOfServer } from '../../contract/mcp-server.ts'
import type { SecretScope } from '../../contract/secret.ts'
import { baseEnvironment } from '../process/base-environment.ts'
import { type Containment, detectContainment } from '../process/containment.ts'
import { ProgramFinder } from '../process/find-program.ts'
import { defaultLimits } from '../process/limits.ts'
import { toStartError } from '../process/start-error.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { Shield } from '../sandbox/shield.ts'
import { type CircuitSettings, defaultCircuit } from './circuit.ts'
import type { OpenedTransport } from './connection.ts'
import type { UpstreamAttempt } from './describe-failure.ts'
import { defaultMessageLimits, MessageCheck, type MessageLimits } from './message-check.ts'
import { isStdio, resolveValues } from './server-settings.ts'
import { type SourceAccess, SourceUpstreams } from './source-upstreams.ts'
import type { TokenSource } from './token-source.ts'
import { Upstream } from './upstream.ts'

const loadStdioTransport = lazyModule(() => import('./stdio-transport.ts'))
const loadSandboxed = lazyModule(() => import('./sandboxed-server.ts'))
const loadHttpTransport = lazyModule(() => import('./http-transport.ts'))

/** The server definitions and the settings of their connections. */
export interface UpstreamsOptions {
  readonly servers: ReadonlyMap<string, McpServer>
  readonly env: Environment
  /** The secrets that definitions refer to. */
  readonly secrets: Pick<SecretScope, 'resolve' | 'redact'>
  /** The stored sources; a process without a database has none. */
  readonly sources?: SourceAccess | undefined
  /** The containment of processes; the strongest that the machine supports where absent. */
  readonly containment?: Containment | undefined
  /** The sandbox of programs that request one. */
  readonly sandbox?: Sandbox | undefined
  /** Hides Tooldex from the programs that it starts. */
  readonly shield?: Shield | undefined
  readonly limits?: Partial<MessageLimits> | undefined
  readonly circuit?: Partial<CircuitSettings> | undefined
  readonly pingMs?: number | undefined
}

const pingMs = 10_000

type Secrets = UpstreamsOptions['secrets']

/** One server with its secrets. */
interface UpstreamParts {
  readonly name: string
  readonly server: McpServer
  readonly secrets: Secrets
  readonly onAttempt?: UpstreamAttempt | undefined
  readonly onListChanged?: (() => void) | undefined
  readonly tokens?: TokenSource | undefined
}

/** All configured servers, each with its own connection. */
export class Upstreams {
  readonly #options: UpstreamsOptions
  readonly #open = new Map<string, Upstream>()
  /** The servers of stored sources; undefined where there are none. */
  readonly sources: SourceUpstreams | undefined
  readonly #programs = new ProgramFinder()
  #containment: Containment | undefined
  #servers: ReadonlyMap<string, McpServer>

  constructor(options: UpstreamsOptions) {
    this.#options = options
    this.#servers = options.servers
    this.#containment = options.containment
    this.sources = options.sources && new SourceUpstreams(options.sources, (parts) => this.#make(parts))
  }

  get servers(): ReadonlyMap<string, McpServer> {
    return this.#servers
  }

  /** Replaces the definitions; a server whose definition changed or was removed ends after its last call. */
  replace(servers: ReadonlyMap<string, McpServer>): void {
    for (const [name, upstream] of this.#open) {
      if (sameJson(servers.get(name), this.#servers.get(name))) continue
      this.#open.delete(name)
      upstream.retire()
    }
    this.#servers = servers
  }

  of(name: string): Upstream | undefined {
    const server = this.servers.get(name)
    const existing = this.#open.get(name)
    if (existing !== undefined || server === undefined) return existing
    const upstream = this.#make({ name, server, secrets: this.#options.secrets })
    this.#open.set(name, upstream)
    return upstream
  }

  #make({ name, server, secrets, onAttempt, onListChanged, tokens }: UpstreamParts): Upstream {
    return new Upstream({
      name,
      connectMs: server.connectTimeoutMs,
      // Definitions that were stored earlier do not have the field.
      clientRequests: server.clientRequests ?? [],
      idleMs: server.idleMs,
      pingMs: this.#options.pingMs ?? pingMs,
      circuit: { ...defaultCircuit, ...this.#options.circuit },
      openTransport: () => (isStdio(server) ? this.#start(server, secrets) : this.#reach(server, { secrets, tokens })),
      onAttempt,
      onListChanged,
    })
  }

  async close(): Promise<void> {
    const own = Array.from(this.#open.values(), (upstream) => upstream.close())
    await Promise.allSettled([...own, this.sources?.close()])
  }

  async #start(server: StdioServer, secrets: Secrets): Promise<OpenedTransport> {
    const { StdioTransport } = await loadStdioTransport()
    if (sandboxOfServer(server) !== undefined) {
      const { openSandboxed } = await loadSandboxed()
      const { program, scope } = await openSandboxed(
        server,
        this.#options.sandbox,
        await resolveValues(server.env, secrets),
      )
      return this.#withCheck((check) => new StdioTransport(program, scope, check))
    }
    const env = { ...baseEnvironment(this.#options.env), ...(await resolveValues(server.env, secrets)) }
    const cwd = server.cwd === undefined ? process.cwd() : expandHome(server.cwd, this.#options.env)
    try {
      const program = this.#programs.find(expandHome(server.command, this.#options.env), env, cwd)
      this.#containment ??= detectContainment()
      const unshielded = await this.#containment.start(defaultLimits.processes)
      const scope = (await this.#options.shield?.wrap(unshielded)) ?? unshielded
      return this.#withCheck((check) => new StdioTransport({ program, args: server.args, cwd, env }, scope, check))
    } catch (error) {
      throw toStartError(error, server.command)
    }
  }

  async #reach(
    server: HttpServer,
    credentials: Pick<UpstreamParts, 'secrets' | 'tokens'>,
    isSse = server.type === 'sse',
  ): Promise<OpenedTransport> {
    const { secrets, tokens } = credentials
    const { HttpTransport } = await loadHttpTransport()
    const { url, allowPrivate } = server
    const headers = await resolveValues(server.headers, secrets)
    const address = { url: new URL(url), headers, allowPrivate, isSse, tokens }
    const opened = this.#withCheck((check) => new HttpTransport(address, check))
    return isSse ? { ...opened, isOlder: true } : { ...opened, openOlder: () => this.#reach(server, credentials, true) }
  }

  #withCheck(make: (check: MessageCheck) => OpenedTransport['line']): OpenedTransport {
    const limits = { ...defaultMessageLimits, ...this.#options.limits }
    const check: MessageCheck = new MessageCheck(limits, () => line.fail('sent too many unsolicited messages'))
    const line = make(check)
    return { line, check }
  }
}
