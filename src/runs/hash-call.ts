import { hashJson } from '../base/hash-json.ts'
import type { RunnableTool } from '../contract/executor.ts'

/** Identifies a call under an idempotency key: the tool, its version and the arguments in any order. */
export const hashCall = ({ name, version }: RunnableTool, input: unknown): string => hashJson([name, version, input])
