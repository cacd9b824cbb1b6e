import { createHash } from 'node:crypto'
import type { RunnableTool } from '../contract/executor.ts'

/** What makes two calls the same call: the tool and its arguments. */
export const hashCall = ({ name, version }: RunnableTool, input: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([name, version, input]))
    .digest('hex')
