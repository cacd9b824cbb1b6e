import type * as z from 'zod'
import { TooldexError, toTooldexError } from '../../base/errors.ts'
import { isReserved, runCodeName } from '../../rules/builtin-names.ts'
import { findUnregistered } from '../catalog/resolve-name.ts'
import type { ProcessContext } from '../operation.ts'
import type { CallAnswer } from '../runs/call-tool.ts'
import { describeTools } from '../search/describe-tools.ts'
import { searchTools } from '../search/search-tools.ts'
import { mergeSearch, type Search } from './merge-search.ts'
import {
  type CallControls,
  createLocalClient,
  type RecordedCall,
  type RegistryClient,
  type RequestControls,
} from './registry-client.ts'

/** A client for the configs of this process, and one for a registry, on a server or in a database. */
export interface CombinedTools {
  readonly context: ProcessContext
  readonly registry: RegistryClient
  /** The precedence for a name that both have. */
  readonly prefer: 'configs' | 'registry'
}

type Described = z.output<typeof describeTools.output>
type Invoke = RegistryClient['invoke']

/** Combines the tools of configs, which run here, and those of a registry, which run there, into one catalog. */
export function combineClients(parts: CombinedTools): RegistryClient {
  const client: RegistryClient = {
    invoke: ((operation, input, controls) => {
      if (isSame(operation, searchTools)) return combined.search(input, controls)
      if (isSame(operation, describeTools)) return combined.describe(input, controls)
      return combined.invokeEither(operation, input, controls)
    }) as Invoke,
    call: (call, controls) => combined.call(call, controls),
    follow: (id) => parts.registry.follow(id),
    close: () => parts.registry.close(),
  }
  const combined = new CombinedClient(parts, client)
  return client
}

class CombinedClient {
  readonly #context: ProcessContext
  readonly #local: RegistryClient
  readonly #programs: RegistryClient
  readonly #registry: RegistryClient
  readonly #prefersConfigs: boolean

  constructor({ context, registry, prefer }: CombinedTools, programClient: RegistryClient) {
    this.#context = context
    this.#local = createLocalClient(context)
    this.#programs = createLocalClient({ ...context, programClient })
    this.#registry = registry
    this.#prefersConfigs = prefer === 'configs'
  }

  /** If the registry is unreachable, the tools of configs are still found, with a note. */
  async search(input: Record<string, unknown>, controls?: RequestControls) {
    let failure: TooldexError | undefined
    const local: Search = (query) => this.#local.invoke(searchTools, query, controls)
    const registry: Search = async (query) => {
      try {
        return await this.#registry.invoke(searchTools, query, controls)
      } catch (thrown) {
        // A caller with registry precedence handles an unreachable registry itself.
        if (!this.#prefersConfigs) throw thrown
        failure = asUnreachable(thrown)
        return {
          mode: 'search',
          results: [],
          spentTokens: 0,
          omitted: 0,
          note: missingNote(failure),
        }
      }
    }
    const [first, second] = this.#prefersConfigs ? [local, registry] : [registry, local]
    const tools = await this.#context.catalog.open()
    const idInFirst = this.#prefersConfigs ? (name: string) => findUnregistered(tools, name)?.id : undefined
    const merged = await mergeSearch({ first, second, idInFirst }, input)
    if (failure !== undefined && (merged.results ?? merged.summary ?? []).length === 0) throw failure
    return merged
  }

  async describe(input: Record<string, unknown>, controls?: RequestControls): Promise<Described> {
    const parsed = describeTools.input.safeParse(input)
    // An invalid input is rejected by the operation itself.
    if (!parsed.success) return this.#local.invoke(describeTools, input, controls)
    const { ids, ...level } = parsed.data
    const describe = (client: RegistryClient) => async (ids: readonly string[]) =>
      ids.length === 0 ? { tools: [] } : client.invoke(describeTools, { ...level, ids: [...ids] }, controls)
    const [local, registry] = [describe(this.#local), describe(this.#registry)]
    if (!this.#prefersConfigs) return describeRest(registry, local, ids)
    const tools = await this.#context.catalog.open()
    const localIds = ids.filter((id) => findUnregistered(tools, id) !== undefined)
    const described = await local(localIds)
    if (localIds.length === ids.length) return described
    const rest = ids.filter((id) => !localIds.includes(id))
    const other = await describeRest(registry, local, rest).catch((thrown: unknown) => {
      if (described.tools.length === 0) throw thrown
      return notDescribed(rest, thrown)
    })
    return { ...other, tools: [...described.tools, ...other.tools] }
  }

  async call(call: RecordedCall, controls: CallControls): Promise<CallAnswer> {
    const name = String(call.name)
    if (name === readResult)
      return orElse(
        () => this.#local.call(call, controls),
        () => this.#registry.call(call, controls),
      )
    // A program runs here, where the tools of both can be called.
    if (name === runCodeName && this.#context.codeMode === true) return this.#programs.call(call, controls)
    const isHere = findUnregistered(await this.#context.catalog.open(), name) !== undefined
    if (isHere) return this.#local.call(call, controls)
    try {
      return await this.#registry.call(call, controls)
    } catch (thrown) {
      throw await this.#withDefaultHint(thrown, name)
    }
  }

  /** All other operations belong to the registry, except reads of outputs stored here. */
  invokeEither: Invoke = (operation, input, controls) => {
    const there = () => this.#registry.invoke(operation, input, controls)
    if (!operation.needs?.includes('results?')) return there()
    return orElse(() => this.#local.invoke(operation, input, controls), there)
  }

  /** Adds suggestions from configs to the error for a name that the registry does not have. */
  async #withDefaultHint(thrown: unknown, name: string): Promise<unknown> {
    if (!isUnknown(thrown) || isReserved(name)) return thrown
    const local = await this.#local.invoke(describeTools, { ids: [name] }).catch(toTooldexError)
    return local instanceof TooldexError && local.suggestions.length > 0 ? local : thrown
  }
}

/** Whether two operations are one; their types may differ. */
const isSame = (operation: unknown, other: unknown): boolean => operation === other

const readResult = 'tooldex:read_result'

const isUnknown = (thrown: unknown): thrown is TooldexError =>
  thrown instanceof TooldexError && thrown.code === 'TOOL_NOT_FOUND'

/** Errors of the request are passed to the caller; any other failure concerns the registry only. */
function asUnreachable(thrown: unknown): TooldexError {
  const error = toTooldexError(thrown)
  if (error.code === 'INPUT_INVALID' || error.code === 'CURSOR_INVALID') throw error
  return error
}

/** The note that tools of the registry are missing, with the reason and, for a missing key, the setting. */
const missingNote = ({ code, message, hint }: TooldexError): string =>
  `${message} Its tools are missing.${code === 'UNAUTHORIZED' ? ` ${hint}` : ''}`

type Describe = (ids: readonly string[]) => Promise<Described>

/** Describes tools with one client, and those unknown to it with the other. */
async function describeRest(first: Describe, second: Describe, ids: readonly string[]): Promise<Described> {
  const found = await first(ids).catch((thrown: unknown) => {
    if (!isUnknown(thrown)) throw thrown
    return { tools: [], unknown: ids.map((id) => ({ id, message: thrown.message, hint: thrown.hint })) }
  })
  const missing = (found.unknown ?? []).map(({ id }) => id)
  if (missing.length === 0) return found
  const rest = await second(missing).catch((thrown: unknown) => {
    if (found.tools.length === 0 || !isUnknown(thrown)) throw thrown
    return { tools: [], unknown: found.unknown }
  })
  return { ...rest, tools: [...found.tools, ...rest.tools] }
}

/** Errors for tools that were not found, beside others that were. */
function notDescribed(ids: readonly string[], thrown: unknown): Described {
  const { message, hint } = asUnreachable(thrown)
  return { tools: [], unknown: ids.map((id) => ({ id, message, hint })) }
}

async function orElse<Result>(first: () => Promise<Result>, second: () => Promise<Result>): Promise<Result> {
  try {
    return await first()
  } catch (thrown) {
    if (!(thrown instanceof TooldexError) || thrown.code !== 'NOT_FOUND') throw thrown
    return second()
  }
}
