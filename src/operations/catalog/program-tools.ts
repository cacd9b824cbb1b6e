import { TooldexError, toTooldexError } from '../../base/errors.ts'
import { isObject } from '../../base/json-values.ts'
import { type Catalog, parseTool, type SyncedTool, toolIdOf } from '../../catalog/index.ts'
import type { Backend, CatalogTool } from '../../contract/catalog.ts'
import type { FunctionTool, RunnableTool } from '../../contract/executor.ts'
import type { SourceItem } from '../../contract/source.ts'
import type { LiveCatalog } from './live-catalog.ts'

/** The backend of all functions. */
const codeBackend: Backend = { kind: 'local', name: 'code' }
/** The namespace of functions that set none. */
const codeNamespace = 'code'

const serverFields = ['title', 'description', 'inputSchema', 'outputSchema', 'annotations', 'icons', '_meta'] as const

/** The fields of a tool as its MCP server defines them, besides its name. */
export const fieldsOf = (definition: SourceItem): Record<string, unknown> =>
  Object.fromEntries(serverFields.flatMap((field) => (definition[field] == null ? [] : [[field, definition[field]]])))

/** The functions of a program by the ids of their tools; the catalog shows exactly these. */
export class ProgramFunctions {
  readonly #tools = new Map<string, FunctionTool>()
  readonly #worker: string
  #catalog: LiveCatalog | undefined

  /** The worker label is that of this process, so that no other one takes a call of its functions. */
  constructor(worker: string) {
    this.#worker = worker
  }

  /** For the executor. */
  get all(): ReadonlyMap<string, FunctionTool> {
    return this.#tools
  }

  /** Adds functions, all or none; returns the ids of their tools. */
  async add(functions: readonly FunctionTool[]): Promise<readonly string[]> {
    const wrong = functions.findIndex((each) => typeof each?.run !== 'function' || !isObject(each.tool))
    if (wrong >= 0)
      throw new TooldexError('INPUT_INVALID', `Function ${wrong + 1} is not a tool.`, {
        hint: 'Pass the result of defineTool({ name, description, input, run }).',
      })
    const added = new Map(functions.map((each) => [toolIdOf(toCatalogTool(each)), each]))
    if (added.size < functions.length) throw new TooldexError('NAME_TAKEN', 'Two functions have the same name.')
    const taken = [...added.keys()].find((id) => this.#tools.has(id))
    if (taken !== undefined) throw new TooldexError('NAME_TAKEN', `There is already a function ${taken}.`)
    for (const [id, each] of added) this.#tools.set(id, each)
    await this.#show()
    return [...added.keys()]
  }

  async remove(id: string): Promise<void> {
    if (!this.#tools.delete(id)) throw new TooldexError('TOOL_NOT_FOUND', `There is no function ${id.slice(0, 200)}.`)
    await this.#show()
  }

  /** Makes a catalog show the functions, from now on. */
  async showIn(catalog: LiveCatalog): Promise<void> {
    this.#catalog = catalog
    await this.#show()
  }

  async #show(): Promise<void> {
    if (this.#catalog === undefined) return
    const synced = Array.from(this.#tools, ([id, each]) => {
      const tool = toCatalogTool(each)
      return { tool, runnable: toRunnable(tool, 'code', { function: id, worker: this.#worker }) }
    })
    await sync(this.#catalog, codeBackend, synced)
  }
}

const toCatalogTool = ({ tool }: FunctionTool): CatalogTool =>
  parseTool({ ...tool, namespace: tool.namespace ?? codeNamespace, source: 'code' }, `The function ${tool.name}`)

/** Makes the catalog show the tools of an MCP server, under its name; returns the reasons for tools that it leaves out. */
export async function showUpstream(
  live: LiveCatalog,
  serverName: string,
  definitions: readonly SourceItem[],
): Promise<readonly string[]> {
  const warnings: string[] = []
  const synced = definitions.flatMap((definition): SyncedTool[] => {
    const name = String(definition.name)
    try {
      const tool = parseTool({ ...fieldsOf(definition), name, namespace: serverName, source: 'mcp' }, name)
      return [{ tool, runnable: toRunnable(tool, 'mcp', { server: serverName, tool: name }) }]
    } catch (thrown) {
      warnings.push(`${serverName}: left out: ${toTooldexError(thrown).message}`)
      return []
    }
  })
  await sync(live, { kind: 'mcp', serverName }, synced)
  return warnings
}

async function sync(live: LiveCatalog, backend: Backend, synced: readonly SyncedTool[]): Promise<void> {
  const tools: Catalog = await live.open()
  const before = tools.version
  tools.syncParsed(backend, synced)
  live.hasProgramTools ||= synced.length > 0
  if (tools.version !== before) live.announce()
}

/** The form of a tool of a program or a server for executors. */
export const toRunnable = (
  { name, inputSchema, outputSchema = {}, annotations = {} }: CatalogTool,
  executorType: 'code' | 'mcp',
  executorConfig: RunnableTool['executorConfig'],
): RunnableTool => ({
  name,
  id: null,
  version: null,
  executorType,
  executorConfig,
  scriptContent: null,
  inputSchema,
  outputSchema,
  annotations,
  constraints: [],
})
