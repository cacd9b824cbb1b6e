import { TooldexError } from '../../base/errors.ts'
import type { Readiness } from '../../contract/catalog.ts'
import type { RunnableTool } from '../../contract/executor.ts'
import { runCodeName } from '../../rules/builtin-names.ts'
import type { OperationContext } from '../operation.ts'
import type { DescribedTool } from '../search/describe-tools.ts'
import type { ResolvedCall } from './resolve-call.ts'

/** The description of the tool, for models; a list of tools contains it where code mode is on. */
export const runCodeDescription =
  'Run a short TypeScript or JavaScript program that calls tools, instead of many calls: ' +
  '`const log = await tools.git_log({ max_count: 3 }); return log.length`. ' +
  "Only the returned value and console lines come back. tools['name'](arguments) calls any tool; errors have code and message. " +
  'search(query) and describe(id) find tools; describe_tool with format "typescript" shows their types. No imports, timers or network.'

const inputSchema = {
  type: 'object',
  properties: {
    code: {
      type: 'string',
      minLength: 1,
      maxLength: 100_000,
      description: 'The body of an async function: top-level await, and return for the result.',
    },
    timeoutMs: { type: 'integer', minimum: 1, maximum: 300_000, description: 'Default 30000.' },
  },
  required: ['code'],
  additionalProperties: false,
} as const

const tool: RunnableTool = {
  name: runCodeName,
  id: null,
  version: null,
  executorType: 'program',
  executorConfig: {},
  scriptContent: null,
  inputSchema,
  outputSchema: {},
  annotations: {},
  constraints: [],
}

/** The definition of the tool for lists. */
export const runCodeDefinition = { description: runCodeDescription, inputSchema }

/** The call of a program, if the caller may run programs. */
export function resolveProgram(context: OperationContext, version: number | undefined): ResolvedCall {
  if (context.codeMode !== true) throw new TooldexError('FORBIDDEN', whyOff, { hint: howToAllow })
  if (version !== undefined)
    throw new TooldexError('INPUT_INVALID', `${runCodeName} has no versions.`, { hint: 'Leave version out.' })
  return { tool, id: runCodeName, approvalBy: [] }
}

const whyOff = 'Code mode is off for this caller.'
const howToAllow =
  'Call the tools one by one, or use a key that was created with: tooldex keys create NAME --scope call --code-mode. On stdio: tooldex run --code-mode.'
const off: Readiness = Object.freeze({ state: 'needs-credentials', reason: 'code mode is off for this caller' })

/** The description of the tool, with the reason where the caller may not call it. */
export const describeRunCode = ({ codeMode }: OperationContext): DescribedTool => ({
  id: runCodeName,
  name: runCodeName,
  summary: 'Run a short program that calls tools.',
  category: null,
  tags: [],
  tool: { name: runCodeName, description: runCodeDescription, inputSchema },
  ...(codeMode === true ? {} : { readiness: off }),
})
