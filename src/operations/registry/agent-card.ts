import * as z from 'zod'
import { packageVersion } from '../../base/package-info.ts'
import type { LlmTool } from '../../contract/llm.ts'
import { AgentCard, toAgentCard } from '../../definitions/index.ts'
import { toolsetsOfRequest } from '../catalog/caller-toolsets.ts'
import { defineOperation } from '../operation.ts'
import { toolViewOfCaller } from '../search/tool-view.ts'
import { toLlmTool } from './definitions.ts'

/** The maximum number of skills of a card; further tools are found with search_tools. */
const maxSkills = 1000
const revision = '2026-07-28'

/** Returns the agent card (A2A) of the tools that the caller sees, or of the toolset of the request. */
export const getAgentCard = defineOperation({
  name: 'llm.card',
  summary: 'Return the agent card (A2A) of the tools that the caller sees, or of a toolset.',
  scope: 'read',
  needs: ['catalog', 'registry?'],
  input: z.object({}),
  output: AgentCard,
  async handle(_input, context) {
    const tools = await context.catalog.indexInTurns(undefined, context.signal)
    const { hits } = tools.search({ filters: {}, limit: maxSkills, view: await toolViewOfCaller(context) })
    const named = hits.map(({ id, tool }) => toLlmTool(tools, id, tool))
    const [toolset] = context.caller.toolsets === undefined ? [] : await toolsetsOfRequest(context)
    return makeCard(named, { origin: context.origin ?? '', toolset })
  },
})

/** The card without a key: where the server is and how to authenticate, but no tool. */
export const publicAgentCard = (origin: string): AgentCard => makeCard([], { origin })

interface About {
  readonly origin: string
  readonly toolset?: { readonly name: string; readonly description?: string | undefined } | undefined
}

function makeCard(tools: readonly LlmTool[], { origin, toolset }: About): AgentCard {
  const about =
    toolset === undefined
      ? { name: 'Tooldex', description: 'Tools for agents. With a key or an access token, the skills are its tools.' }
      : { name: toolset.name, description: toolset.description ?? `The tools of the toolset ${toolset.name}.` }
  const url = `${origin}/mcp${toolset === undefined ? '' : `/${encodeURIComponent(toolset.name)}`}`
  return toAgentCard(tools, { ...about, version: packageVersion(), url, revision }).card
}
