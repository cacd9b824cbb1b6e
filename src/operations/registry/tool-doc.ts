import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { loadTokenCounter } from '../../base/tokens.ts'
import { DetailLevel } from '../../contract/tool-doc.ts'
import { bareNames, positionalArgumentNames } from '../../rules/build-input-schema.ts'
import { idOfRegistered, resolveName } from '../catalog/resolve-name.ts'
import { defineOperation, type ToolContext } from '../operation.ts'
import { toDeclaredTool } from '../search/declared-tool.ts'
import { DescribedTool, DescribeFormat, describeTools } from '../search/describe-tools.ts'
import { IdOrName } from './inputs.ts'
import { findToolForm, toDescribed } from './offered-doc.ts'
import { findRegistered } from './registry.ts'

/** The description of one tool, with the fields that a command line needs to call it. */
const CallableDoc = DescribedTool.extend({
  positional: z
    .array(z.string())
    .optional()
    .describe('The arguments that tooldex call takes without a flag, in order.'),
  tokens: z.int().optional().describe('The number of tokens that an agent reads, where it was requested.'),
})
type CallableDoc = z.infer<typeof CallableDoc>

/** Describes one tool. */
export const readDoc = defineOperation({
  name: 'tools.doc',
  summary: 'Describe one tool, offered or not; name@3 is its version 3.',
  scope: 'read',
  needs: ['catalog', 'registry?'],
  http: { method: 'get', path: '/tools/{idOrName}/doc', tag: 'search' },
  input: z.object({
    idOrName: IdOrName,
    level: DetailLevel.default('schema'),
    format: DescribeFormat.default('json').describe(
      'The form of the schemas: JSON Schema, or a TypeScript declaration.',
    ),
    countTokens: z.boolean().default(false).describe('Whether to count the tokens of the description.'),
  }),
  output: CallableDoc,
  async handle({ countTokens, ...input }, context) {
    const doc = await describeOne(input, context)
    if (!countTokens) return doc
    const { positional: _, ...read } = doc
    return { ...doc, tokens: (await loadTokenCounter())(JSON.stringify(read)) }
  },
})

interface DocRequest {
  readonly idOrName: string
  readonly level: DetailLevel
  readonly format: z.infer<typeof DescribeFormat>
}

async function describeOne({ idOrName, format, ...input }: DocRequest, context: ToolContext): Promise<CallableDoc> {
  const level = format === 'typescript' && input.level === 'summary' ? 'schema' : input.level
  const named = await resolveName(context, idOrName)
  const known =
    named?.registered !== undefined
      ? await orUndefined(() => docOfRegistered(context, idOrName, { level, format }))
      : undefined
  if (known !== undefined) return known
  const { tools } = await describeTools.handle({ ids: [idOrName], level, format }, context)
  const doc = tools[0] as DescribedTool
  const args = named?.registered === undefined ? named?.runnable?.resolved?.tool.args : undefined
  return args === undefined || level === 'summary' ? doc : { ...doc, positional: [...bareNames(args)] }
}

async function docOfRegistered(
  context: ToolContext,
  idOrName: string,
  { level, format }: { level: DetailLevel; format: z.infer<typeof DescribeFormat> },
): Promise<CallableDoc> {
  const tool = await findRegistered(context, idOrName)
  const found = { id: idOfRegistered(tool), ...(await findToolForm(context, tool)), registered: tool }
  const described = toDescribed(found, level)
  const doc = format === 'typescript' ? toDeclaredTool(described, found, await context.catalog.open()) : described
  return level === 'summary' ? doc : { ...doc, positional: [...positionalArgumentNames(tool)] }
}

/** A hidden tool gets the same error as an unknown one. */
async function orUndefined(work: () => Promise<CallableDoc>): Promise<CallableDoc | undefined> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof TooldexError && thrown.code === 'TOOL_NOT_FOUND') return undefined
    throw thrown
  }
}
