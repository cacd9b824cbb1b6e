import * as z from 'zod'
import { TooldexError } from '../base/errors.ts'
import { toPointer } from '../base/problem.ts'
import type { LlmTool, Loss } from '../contract/llm.ts'
import { describedParse, describeZodIssue } from '../diagnostics/zod-issues.ts'

const Text = z.string()
const Modes = z.array(Text)

/** A skill of an agent card (A2A 1.0). */
const AgentSkill = z.looseObject({
  id: Text.min(1),
  name: Text,
  description: Text,
  tags: z.array(Text).default([]),
  examples: z.array(Text).optional(),
  inputModes: Modes.optional(),
  outputModes: Modes.optional(),
})
type AgentSkill = z.infer<typeof AgentSkill>

/** The description of an agent for other agents (A2A 1.0); cards of 0.3 are read, too. */
export const AgentCard = z.looseObject({
  name: Text,
  description: Text,
  version: Text.default('0'),
  supportedInterfaces: z.array(z.looseObject({ url: Text, protocolBinding: Text, protocolVersion: Text })).optional(),
  capabilities: z.looseObject({}).default({}),
  defaultInputModes: Modes.default(['text/plain']),
  defaultOutputModes: Modes.default(['text/plain']),
  skills: z.array(AgentSkill).max(10_000),
})
export type AgentCard = z.infer<typeof AgentCard>

/** The agent that a card describes. */
export interface AgentCardOptions {
  readonly name: string
  readonly description: string
  readonly version: string
  /** The MCP endpoint that serves the tools. */
  readonly url: string
  /** The protocol revision of the endpoint. */
  readonly revision: string
}

/** The losses of one tool or skill. */
export interface AdapterLosses {
  readonly id: string
  readonly losses: readonly Loss[]
}

const jsonMode = 'application/json'
const bearer = {
  bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', description: 'An API key or an access token.' } },
}

/** The agent card of some tools, and what it cannot express of each. */
export function toAgentCard(
  tools: readonly LlmTool[],
  { name, description, version, url, revision }: AgentCardOptions,
): { readonly card: AgentCard; readonly losses: readonly AdapterLosses[] } {
  const card = {
    name,
    description,
    version,
    // The binding is an open list; the tools are called by MCP, and no other binding is served.
    supportedInterfaces: [{ url, protocolBinding: 'MCP', protocolVersion: revision }],
    capabilities: { streaming: false, pushNotifications: false },
    securitySchemes: bearer,
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: [jsonMode],
    defaultOutputModes: [jsonMode, 'text/plain'],
    skills: tools.map(toSkill),
  }
  return { card, losses: tools.map((tool) => ({ id: tool.id, losses: lossesOfTool(tool) })) }
}

const toSkill = ({ id, name, displayName, description, tags = [], exampleRequests = [] }: LlmTool): AgentSkill => ({
  id,
  name: displayName ?? name,
  description,
  tags: [...tags],
  ...(exampleRequests.length === 0 ? {} : { examples: [...exampleRequests] }),
})

const noSchemas = 'A skill has media types, no schemas.'

function lossesOfTool({ inputSchema, outputSchema = {}, annotations = {}, icons, _meta }: LlmTool): readonly Loss[] {
  const lose = (pointer: string, lost: string, why: string): Loss => ({ pointer, lost, why })
  return [
    ...(Object.keys(inputSchema).length === 0 ? [] : [lose('/inputSchema', 'inputSchema', noSchemas)]),
    ...(Object.keys(outputSchema).length === 0 ? [] : [lose('/outputSchema', 'outputSchema', noSchemas)]),
    ...Object.keys(annotations).map((hint) =>
      lose(toPointer(['annotations', hint]), hint, 'A skill does not support annotations.'),
    ),
    ...(icons === undefined ? [] : [lose('/icons', 'icons', 'Only an agent has an icon.')]),
    ...(_meta === undefined ? [] : [lose('/_meta', '_meta', 'A skill has no further fields.')]),
  ]
}

/** The schema of a tool that stands for a skill: a skill takes a message. */
const messageSchema = {
  type: 'object',
  properties: { message: { type: 'string', description: 'The request to the agent, in plain text.' } },
  required: ['message'],
}
const read = new Set(['id', 'name', 'description', 'tags', 'examples'])
const safeName = (id: string): string => id.replace(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 128)

/** Reads the skills of an agent card as tools; what a tool cannot express is reported. */
export function readAgentCard(input: unknown): {
  readonly tools: readonly LlmTool[]
  readonly losses: readonly AdapterLosses[]
} {
  const parsed = AgentCard.safeParse(input, describedParse)
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => {
      const { message } = describeZodIssue(issue)
      return { severity: 'error' as const, pointer: toPointer(issue.path), message }
    })
    throw new TooldexError('INPUT_INVALID', `The agent card is not valid: ${problems[0]?.message ?? ''}.`, { problems })
  }
  const { skills, name: agent } = parsed.data
  const namespace = safeName(agent)
  const tools = skills.map((skill): LlmTool => {
    const { id, name, description, tags, examples = [] } = skill
    return {
      id: `${namespace}:${safeName(id)}`,
      name: safeName(id),
      namespace,
      displayName: name,
      description,
      inputSchema: messageSchema,
      tags,
      exampleRequests: examples,
    }
  })
  const losses = skills.map((skill, index) => ({ id: tools[index]?.id ?? skill.id, losses: lossesOfSkill(skill) }))
  return { tools, losses }
}

function lossesOfSkill(skill: AgentSkill): readonly Loss[] {
  const others = Object.keys(skill).filter((key) => !read.has(key))
  const renamed =
    safeName(skill.id) === skill.id
      ? []
      : [{ pointer: '/id', lost: 'id', why: 'The name of a tool has letters, digits and _.- only.' }]
  return [
    ...renamed,
    ...others.map((key) => ({ pointer: toPointer([key]), lost: key, why: 'A tool has no such field.' })),
  ]
}
