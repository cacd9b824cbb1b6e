import { TooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import type { Toolset } from '../../contract/toolset.ts'
import { toolsetsOfRequest } from '../../operations/catalog/caller-toolsets.ts'
import type { ToolContext } from '../../operations/operation.ts'

/** The selection of tools in the list of a client. */
export interface ListMode {
  /** Lists every tool directly, without the meta tools. */
  readonly classic: boolean
  /** Tools listed beside the meta tools. */
  readonly pinned: readonly string[]
}

/** The mode of the only toolset that restricts a request; undefined where there is none, or several. */
export async function toolsetMode(context: ToolContext): Promise<ListMode | undefined> {
  if (context.caller.toolsets === undefined) return undefined
  const [toolset, ...others] = await toolsetsOfRequest(context)
  return toolset === undefined || others.length > 0 ? undefined : modeOf(toolset)
}

/** The tools that clients of a toolset list. */
export const modeOf = ({ mode, pinned = [] }: Pick<Toolset, 'mode' | 'pinned'>): ListMode => ({
  classic: mode === 'classic',
  pinned: mode === 'pinned' ? pinned : [],
})

const noParameters: ListMode = { classic: false, pinned: [] }
// Each pinned tool costs a client tokens in every request.
const maxPinned = 100
const hint =
  'Use /mcp for the three meta tools, /mcp?pin=NAME for tools beside them (repeat pin for several), or /mcp?mode=classic for all tools.'

/** Reads the mode from the query of a URL: `mode=classic`, or `pin=NAME` once for each tool. */
export function readListMode(url: string): ListMode {
  if (!url.includes('?')) return noParameters
  const query = new URL(url).searchParams
  const unknown = [...query.keys()].find((key) => key !== 'mode' && key !== 'pin')
  if (unknown !== undefined) throw invalid(`Unknown parameter of the MCP endpoint: ${show(unknown)}.`)
  const mode = query.get('mode') ?? 'progressive'
  const pinned = query.getAll('pin').filter((name) => name !== '')
  if (mode !== 'progressive' && mode !== 'classic') throw invalid(`Unknown mode of the MCP endpoint: ${show(mode)}.`)
  if (pinned.length > maxPinned) throw invalid(`At most ${maxPinned} tools can be pinned, not ${pinned.length}.`)
  if (mode === 'classic' && pinned.length > 0) throw invalid('Classic mode lists all tools, so none can be pinned.')
  return { classic: mode === 'classic', pinned }
}

const show = (text: string): string => JSON.stringify(toOneLine(text.slice(0, 100)))

const invalid = (message: string): TooldexError => new TooldexError('INPUT_INVALID', message, { hint })
