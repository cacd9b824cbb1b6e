import type { Progress } from '@modelcontextprotocol/client'
import type { RunControls } from '../../contract/executor.ts'
import { cut } from './describe-failure.ts'

const maxBytes = 64 * 1024
const publishIntervalMs = 250

/** What a run says while it runs, as much of it as is kept. */
export class ProgressLog {
  text = ''
  readonly #controls: RunControls
  #told = 0
  #steps = 0

  constructor(controls: RunControls) {
    this.#controls = controls
  }

  /** Passes on how far a server says it is. */
  readonly take = ({ progress, total, message }: Progress): void => {
    this.#steps++
    const of = total === undefined ? '' : ` of ${total}`
    this.note(`progress ${progress}${of}${message === undefined ? '' : `: ${cut(message)}`}\n`)
    const now = performance.now()
    if (now - this.#told < publishIntervalMs && this.#told > 0) return
    this.#told = now
    this.#controls.onProgress?.(this.#steps)
  }

  note(line: string): void {
    if (this.text.length + line.length > maxBytes) return
    this.text += line
    this.#controls.onOutput?.('stderr', line)
  }
}
