import { BoundedMap } from '../../base/bounded-map.ts'
import type { TooldexError } from '../../base/errors.ts'
import type { LogFields, Logger } from '../../base/logger.ts'

// Repeating the reason for every rejected request would fill the log.
const repeatMs = 5000
const maxReasons = 100

/** Logs the reasons of 503 responses, with the error of the database; each message is rate-limited. */
export class OutageLog {
  readonly #logger: Logger
  readonly #loggedAt = new BoundedMap<string, number>(maxReasons)

  constructor(logger: Logger) {
    this.#logger = logger
  }

  note(error: TooldexError, fields: LogFields): void {
    const now = performance.now()
    if (now - (this.#loggedAt.get(error.message) ?? Number.NEGATIVE_INFINITY) < repeatMs) return
    this.#loggedAt.set(error.message, now)
    this.#logger.warn(error.message, { ...fields, reason: innermostMessage(error) })
  }
}

/** The message of the driver; the errors around it contain values of statements. */
function innermostMessage(error: Error): string {
  let current = error
  for (let depth = 0; depth < 6 && current.cause instanceof Error; depth++) current = current.cause
  return current.message
}
