import type { ProgramAnswer, ProgramCall } from '../../contract/executor.ts'

/** The end of a program in its isolate. */
export type ProgramEnd =
  | { readonly how: 'returned'; readonly json: string | undefined }
  | { readonly how: 'threw'; readonly error: ProgramError }
  /** The text is not a program. */
  | { readonly how: 'invalid'; readonly error: ProgramError }
  /** It waits for a promise that nothing settles. */
  | { readonly how: 'stuck' }
  /** The returned value has more characters than allowed. */
  | { readonly how: 'too-large' }
  /** It exceeded its deadline, or was cancelled. */
  | { readonly how: 'stopped' }
  /** The isolate itself failed; it is not used again. */
  | { readonly how: 'crashed' }

/** An error of a program, with its position in the text, from 1. */
export interface ProgramError {
  readonly message: string
  readonly line?: number | undefined
  readonly column?: number | undefined
}

/** The outside of a program: everything that it can reach. */
export interface ProgramHost {
  call(call: ProgramCall): Promise<ProgramAnswer>
  /** Adds a text, which ends with a line end, to the console. */
  print(text: string): void
  /** Whether the program must stop now. */
  isStopped(): boolean
}

/** A message to the thread of a program. */
export type ToProgram =
  | { readonly type: 'run'; readonly code: string }
  | { readonly type: 'answer'; readonly id: number; readonly answer: ProgramAnswer }

/** An event of the thread of a program; the end is the answer to `run`. */
export type FromProgram =
  | { readonly type: 'call'; readonly id: number; readonly call: ProgramCall }
  | { readonly type: 'print'; readonly text: string }
