import * as z from 'zod'
import { bothYamlSpellings, type KeyShape, sameYamlKeys } from '../documents/yaml-keys.ts'
import { ReadinessState } from './catalog.ts'
import { Policy, policyKeys } from './policy.ts'

/** The header that restricts a request to a toolset. */
export const toolsetHeader = 'x-tooldex-toolset'

/** The name of a toolset, which is part of the URL of its endpoint. */
export const ToolsetName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must contain only lower-case letters, digits, dashes and underscores')

const words = (what: string) => z.array(z.string().trim().min(1).max(200)).max(1000).optional().describe(what)

/** The tools of a toolset: those that pass every field; the values of one field are alternatives. */
export const ToolsetFilter = z.strictObject({
  namespaces: words('Namespaces of tools, such as the name of a config.'),
  tags: words('Tags, of which a tool has at least one.'),
  categories: words('Names of categories; their subcategories are included.'),
  names: words('Names or ids of tools.'),
  readiness: z.array(ReadinessState).optional().describe('States of readiness.'),
})
export type ToolsetFilter = z.infer<typeof ToolsetFilter>

/** The fields of a toolset besides its name. */
const toolsetFields = {
  description: z.string().max(2000).optional().describe('The purpose of the toolset.'),
  filter: ToolsetFilter.prefault({}).describe('The tools of the toolset; all where empty.'),
  policy: Policy.optional().describe('A policy that also applies to every call through the toolset.'),
  mode: z
    .enum(['progressive', 'classic', 'pinned'])
    .default('progressive')
    .describe(
      'The tools that clients list: the three meta tools, all tools of the toolset, or both with pinned tools.',
    ),
  pinned: words('The tools beside the meta tools in the mode pinned.'),
  codeMode: z.boolean().default(false).describe('Whether clients may run programs with tooldex:run_code.'),
  callers: z
    .array(z.string().min(1))
    .optional()
    .describe('The callers that may use it: names of keys, sub:SUBJECT or group:NAME; all where absent.'),
}

/** A saved filter of tools with its own policy and list mode. */
export const Toolset = z.strictObject({ name: ToolsetName, ...toolsetFields })
export type Toolset = z.infer<typeof Toolset>

/** A toolset with the values of its filter in the form that tools are compared with. */
export interface ResolvedToolset extends Toolset {
  /** The categories with their subcategories, in lower case. */
  readonly within: ReadonlySet<string> | undefined
  readonly tagged: ReadonlySet<string> | undefined
}

/** The keys of a toolset in a file. */
export const toolsetKeys: KeyShape = {
  keys: { ...sameYamlKeys('name description filter policy mode pinned callers'), ...bothYamlSpellings('codeMode') },
  inside: { filter: { keys: sameYamlKeys(Object.keys(ToolsetFilter.shape).join(' ')) }, policy: policyKeys },
}
