import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { Execution, type ResultContent } from '../../contract/execution.ts'
import { readResultInWorker } from '../../runs/output-threads.ts'
import { defineOperation, type OperationContext } from '../operation.ts'

export const ReadResultInput = z.strictObject({
  handle: z.string().min(1).max(100).describe('The handle that came with the beginning of a large output.'),
  offset: z.int().min(0).default(0).describe('The index of the first line or value, from 0.'),
  limit: z.int().min(1).max(1000).default(100).describe('Number of lines or values.'),
  grep: z.string().min(1).max(1000).optional().describe('Only lines that match this regular expression.'),
  path: z.string().min(1).max(1000).optional().describe('Only the matches of this JSONPath, such as $.items[*].id'),
})

const suspicious = Execution.shape.suspicious

/** Reads a part of a large output. */
export const readStoredResult = defineOperation({
  name: 'results.read',
  summary: 'Read a large output by its handle: page by page, the matching lines, or the matches of a JSONPath.',
  scope: 'call',
  needs: ['registry?', 'results?'],
  http: { method: 'get', path: '/results/{handle}', tag: 'executions' },
  input: ReadResultInput,
  output: z.object({
    mediaType: z.string(),
    items: z.array(z.unknown()).describe('Lines of text, or values.'),
    total: z.int(),
    nextOffset: z.int().optional(),
    suspicious,
    cut: z.boolean().optional().describe('A value was too large, so only its shape is returned; request a part of it.'),
  }),
  async handle({ handle, ...query }, context) {
    const content = await findContent(context, handle)
    const page = await readResultInWorker(content, query, context.signal)
    return { ...page, items: [...page.items], ...signsOf(content) }
  },
})

/** Reads a whole large output. */
export const readWholeResult = defineOperation({
  name: 'results.content',
  summary: 'Read a whole large output by its handle.',
  scope: 'call',
  needs: ['registry?', 'results?'],
  http: { method: 'get', path: '/results/{handle}/content', tag: 'executions' },
  input: ReadResultInput.pick({ handle: true }),
  output: z.object({ mediaType: z.string(), content: z.string(), suspicious }),
  async handle({ handle }, context) {
    const found = await findContent(context, handle)
    return { mediaType: found.mediaType, content: found.content, ...signsOf(found) }
  },
})

const signsOf = ({ suspicious: signs }: ResultContent) => (signs === undefined ? {} : { suspicious: [...signs] })

/** The whole of a large output, for its caller only. */
async function findContent({ registry, results, caller }: OperationContext<'registry?' | 'results?'>, handle: string) {
  const content = results?.read(handle) ?? (await registry?.stores.executions.result(caller, handle))
  if (content !== undefined) return content
  throw new TooldexError('NOT_FOUND', `Unknown handle: ${handle.slice(0, 100)}.`, {
    hint: 'It may have expired; call the tool again.',
  })
}
