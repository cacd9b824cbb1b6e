import type { Progress } from '@modelcontextprotocol/client'
import type { RunControls } from '../../contract/executor.ts'
import { cut } from './describe-failure.ts'

const maxBytes = 64 * 1024
const publishIntervalMs = 250

/** The bounded log of the progress of a run. */
export class ProgressLog {
  text = ''
  readonly #controls: RunControls
  #publishedAt = 0
  #steps = 0

  constructor(controls: RunControls) {
    this.#controls = controls
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

  note(line: string): void {
    if (this.text.length + line.length > maxBytes) return
    this.text += line
    this.#controls.onOutput?.('stderr', line)
  }
}
