import { type Environment, expandHome } from '../../base/expand-variables.ts'
import { sameJson } from '../../base/same-json.ts'
import type { PlainSecrets } from '../../contract/secret.ts'
import { baseEnvironment } from '../process/base-environment.ts'
import { type Containment, detectContainment } from '../process/containment.ts'
import { defaultLimits } from '../process/limits.ts'
import { ProgramFinder } from '../process/program-finder.ts'
import { toStartError } from '../process/start-error.ts'
import type { Shield } from '../sandbox/shield.ts'
import { type CircuitSettings, defaultCircuit } from './circuit.ts'
import type { OpenedTransport } from './connection.ts'
import { defaultMessageLimits, MessageCheck, type MessageLimits } from './message-check.ts'
import { findReference, type HttpServer, isStdio, type McpServer, type StdioServer } from './server-settings.ts'
import { Upstream } from './upstream.ts'

/** What servers are reached with. */
export interface UpstreamsOptions {
  readonly servers: ReadonlyMap<string, McpServer>
  readonly env: Environment
  /** The secrets that definitions refer to. */
  readonly secrets: PlainSecrets
  /** How processes are kept together; the strongest way the machine gives where absent. */
  readonly containment?: Containment | undefined
  /** Hides the server that starts the programs from them. */
  readonly shield?: Shield | undefined
  readonly limits?: Partial<MessageLimits> | undefined
  readonly circuit?: Partial<CircuitSettings> | undefined
  readonly pingMs?: number | undefined
}

const pingMs = 10_000

/** All servers that tools may name, each kept by itself. */
export class Upstreams {
  readonly #options: UpstreamsOptions
  readonly #open = new Map<string, Upstream>()
  readonly #programs = new ProgramFinder()
  #containment: Containment | undefined
  #servers: ReadonlyMap<string, McpServer>

  constructor(options: UpstreamsOptions) {
    this.#options = options
    this.#servers = options.servers
    this.#containment = options.containment
  }

  get servers(): ReadonlyMap<string, McpServer> {
    return this.#servers
  }

  /** Takes over other definitions; a server whose definition changed or is gone ends after its last call. */
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
    const known = this.#open.get(name)
    if (known !== undefined || server === undefined) return known
    const { circuit } = this.#options
    const upstream = new Upstream({
      name,
      connectMs: server.connectTimeoutMs,
      idleMs: server.idleMs,
      pingMs: this.#options.pingMs ?? pingMs,
      circuit: { ...defaultCircuit, ...circuit },
      makeLine: () => (isStdio(server) ? this.#start(server) : this.#reach(server)),
    })
    this.#open.set(name, upstream)
    return upstream
  }

  async close(): Promise<void> {
    await Promise.allSettled(Array.from(this.#open.values(), (upstream) => upstream.close()))
  }

  async #start(server: StdioServer): Promise<OpenedTransport> {
    const { StdioTransport } = await import('./stdio-transport.ts')
    const env = { ...baseEnvironment(this.#options.env), ...(await this.#resolve(server.env)) }
    const cwd = server.cwd === undefined ? process.cwd() : expandHome(server.cwd, this.#options.env)
    try {
      const program = this.#programs.find(expandHome(server.command, this.#options.env), env, cwd)
      this.#containment ??= detectContainment()
      const bare = await this.#containment.start(defaultLimits.processes)
      const cell = (await this.#options.shield?.wrap(bare)) ?? bare
      return this.#made((check) => new StdioTransport({ program, args: server.args, cwd, env }, cell, check))
    } catch (error) {
      throw toStartError(error, server.command)
    }
  }

  async #reach(server: HttpServer): Promise<OpenedTransport> {
    const { HttpTransport } = await import('./http-transport.ts')
    const address = { url: new URL(server.url), headers: await this.#resolve(server.headers) }
    return this.#made((check) => new HttpTransport({ ...address, allowPrivate: server.allowPrivate }, check))
  }

  #made(make: (check: MessageCheck) => OpenedTransport['line']): OpenedTransport {
    const limits = { ...defaultMessageLimits, ...this.#options.limits }
    const check: MessageCheck = new MessageCheck(limits, () =>
      line.fail('sent far more messages than anybody asked for'),
    )
    const line = make(check)
    return { line, check }
  }

  /** Secrets are asked for when a server is started, and kept nowhere else. */
  async #resolve(values: Readonly<Record<string, string>>): Promise<Record<string, string>> {
    const { secrets } = this.#options
    const resolved = Object.entries(values).map(async ([name, value]) => {
      const found = findReference(value)
      return [name, found === undefined ? value : found.before + (await secrets.resolve(found.reference))] as const
    })
    return Object.fromEntries(await Promise.all(resolved))
  }
}
