const [kib, mib] = [1024, 1024 * 1024]

/** The limits of one program. */
export const programLimits = {
  /** Characters of the program. */
  code: 100_000,
  /** The deadline where none is requested, and the longest one. */
  defaultMs: 30_000,
  maxMs: 300_000,
  /** The heap and the stack of the isolate. */
  memoryBytes: 64 * mib,
  stackBytes: 256 * kib,
  /** The WebAssembly instance: the heap with its gaps, and texts on their way. */
  instanceBytes: 192 * mib,
  calls: 200,
  concurrentCalls: 8,
  /** Characters of the arguments of one call, as JSON. */
  arguments: mib,
  /** The values and levels of these arguments, as in the body of a request. */
  argumentValues: 20_000,
  argumentLevels: 100,
  /** Characters of the answer to one call, as JSON. */
  answer: 4 * mib,
  /** Characters of the returned value, as JSON. */
  result: 4 * mib,
  /** Characters of all console lines. */
  console: 64 * kib,
} as const
