import type { CallControls, RecordedCall, RegistryClient } from './registry-client.ts'

/** The function that opens a registry, and the idle time after which it is closed; never if absent. */
interface SharedRegistryOptions {
  readonly open: () => Promise<RegistryClient>
  readonly idleMs?: number | undefined
}

/**
 * A registry that is opened on use and closed when idle: an embedded database belongs to one process at a time, and other
 * processes need access, too.
 */
export class SharedRegistry implements RegistryClient {
  readonly #options: SharedRegistryOptions
  #opened: Promise<RegistryClient> | undefined
  #closing: Promise<void> = Promise.resolve()
  #users = 0
  #idle: NodeJS.Timeout | undefined

  constructor(options: SharedRegistryOptions) {
    this.#options = options
  }

  invoke: RegistryClient['invoke'] = (operation, input, controls) =>
    this.#use((registry) => registry.invoke(operation, input, controls))

  call(call: RecordedCall, controls: CallControls) {
    return this.#use((registry) => registry.call(call, controls))
  }

  async *follow(id: string) {
    const registry = await this.#enter()
    try {
      yield* registry.follow(id)
    } finally {
      this.#leave()
    }
  }

  close(): Promise<void> {
    clearTimeout(this.#idle)
    const opened = this.#opened
    this.#opened = undefined
    this.#closing = this.#closing.then(async () => (await opened?.catch(() => undefined))?.close()).catch(() => {})
    return this.#closing
  }

  async #use<Result>(work: (registry: RegistryClient) => Promise<Result>): Promise<Result> {
    const registry = await this.#enter()
    try {
      return await work(registry)
    } finally {
      this.#leave()
    }
  }

  async #enter(): Promise<RegistryClient> {
    clearTimeout(this.#idle)
    this.#users++
    this.#opened ??= this.#closing.then(() => this.#options.open())
    try {
      return await this.#opened
    } catch (error) {
      // The next use retries.
      this.#opened = undefined
      this.#leave()
      throw error
    }
  }

  #leave(): void {
    this.#users--
    if (this.#users > 0 || this.#opened === undefined || this.#options.idleMs === undefined) return
    this.#idle = setTimeout(() => void this.close(), this.#options.idleMs)
    this.#idle.unref()
  }
}
