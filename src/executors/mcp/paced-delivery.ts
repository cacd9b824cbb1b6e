import type { JSONRPCMessage } from '@modelcontextprotocol/client'

/** Delivers messages in turns: the client processes notifications asynchronously, and a response must not overtake one. */
export class PacedDelivery {
  readonly #deliver: (message: JSONRPCMessage) => void
  readonly #waiting: JSONRPCMessage[] = []
  #paused = false

  constructor(deliver: (message: JSONRPCMessage) => void) {
    this.#deliver = deliver
  }

  push(message: JSONRPCMessage): void {
    this.#waiting.push(message)
    if (!this.#paused) this.#run()
  }

  #run(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#deliver(next)
      if (!('method' in next)) continue
      this.#paused = true
      setImmediate(() => {
        this.#paused = false
        this.#run()
      })
      return
    }
  }
}
