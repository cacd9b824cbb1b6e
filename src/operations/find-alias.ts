import { TooldexError } from '../base/errors.ts'
import type { OperationContext } from './operation.ts'
import { viewOf } from './tool-view.ts'

/** Finds a tool by its name, or else by the name it has in a list for a provider, which is what a model knows. */
export async function orByAlias<Found>(
  context: OperationContext,
  name: string,
  find: (idOrName: string) => Promise<Found>,
): Promise<Found> {
  try {
    return await find(name)
  } catch (thrown) {
    if (!(thrown instanceof TooldexError) || thrown.code !== 'TOOL_NOT_FOUND') throw thrown
    const id = await findByAlias(context, name)
    if (id === undefined) throw thrown
    return find(id)
  }
}

async function findByAlias(context: OperationContext, name: string): Promise<string | undefined> {
  const { assignAliases } = await import('../catalog/llm/index.ts')
  const { tools } = await context.catalogue.open()
  const view = await viewOf(context)
  const named = Array.from(tools.entries, ([id, { tool }]) => ({ id, name: tool.name, namespace: tool.namespace }))
  const names = new Map(named.map((tool) => [tool.id, tool]))
  for (const format of ['openai', 'gemini'] as const)
    for (const [id, alias] of assignAliases(named, format)) {
      // Nobody is told the id of what is hidden.
      if (alias === name && view?.sees(names.get(id) ?? { name }) !== false) return id
    }
  return undefined
}
