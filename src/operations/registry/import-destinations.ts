import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { toPointer } from '../../base/problem.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { Bundle, BundlePlan, BundleTool } from '../../contract/bundle.ts'
import type { Stores } from '../../contract/stores.ts'
import { secretReferences } from '../../rules/needed-grants.ts'

/** A host, and the secrets that new or changed tools send there. */
export const Destination = z.object({
  host: z.string().nullable().describe('null: no service, but a command or script.'),
  secrets: z.array(z.string()).describe('References to secrets, such as secret:NAME.'),
  tools: z.int().describe('The number of new or changed tools.'),
})
type Destination = z.infer<typeof Destination>

const maxDestinations = 100

/** Where the new and changed tools of a bundle send requests and secrets. */
export function destinationsOfImport({ create, change }: BundlePlan, { tools }: Bundle): Destination[] {
  const names = new Set([...create, ...change.map(({ name }) => name)])
  const found = new Map<string | null, { secrets: Set<string>; tools: number }>()
  for (const tool of tools) {
    if (!names.has(tool.name)) continue
    const [host, secrets] = [hostOf(tool), secretReferences(tool.executorConfig ?? {})]
    if (host === null && secrets.length === 0) continue
    const entry = found.get(host) ?? { secrets: new Set<string>(), tools: 0 }
    for (const secret of secrets) entry.secrets.add(secret)
    found.set(host, { ...entry, tools: entry.tools + 1 })
  }
  const all = Array.from(found, ([host, entry]) => ({ host, ...entry, secrets: [...entry.secrets].sort() }))
  return all.slice(0, maxDestinations)
}

const hostOf = ({ executorConfig }: Pick<BundleTool, 'executorConfig'>): string | null =>
  /^https?:\/\/(?:[^/?#]*@)?([^/?#]+)/i.exec(String(executorConfig?.url ?? ''))?.[1]?.toLowerCase() ?? null

interface DerivedParts {
  readonly stores: Stores
  readonly workspace: string
  readonly current: Bundle
  readonly wanted: Bundle
  /** The references that the caller named. */
  readonly named: readonly string[]
}

/**
 * The stored secrets whose names an OpenAPI document chose, with a host that no present tool sends them to. The names of secrets are
 * derived from the title and the schemes of the document, so that its author could choose those of others.
 */
export async function findChosenSecrets(parts: DerivedParts): Promise<readonly TooldexError[]> {
  const { stores, workspace, current, wanted, named } = parts
  const allowed = new Set(named.map((name) => (/^(?:secret|env|file):/.test(name) ? name : `secret:${name}`)))
  const known = new Set(current.tools.flatMap(pairsOf))
  const isStored = new Map<string, boolean>()
  const found = new Map<string, TooldexError>()
  const turn = yieldTurns()
  for (const [index, tool] of wanted.tools.entries()) {
    await turn()
    for (const reference of secretReferences(tool.executorConfig ?? {})) {
      const pair = `${reference} ${hostOf(tool)}`
      if (allowed.has(reference) || known.has(pair) || found.has(pair)) continue
      const name = reference.slice('secret:'.length)
      if (!isStored.has(name)) isStored.set(name, (await stores.secrets.find(workspace, name)) !== undefined)
      if (isStored.get(name)) found.set(pair, chosen(reference, tool, index))
    }
  }
  return [...found.values()]
}

const pairsOf = (tool: BundleTool): string[] =>
  secretReferences(tool.executorConfig ?? {}).map((reference) => `${reference} ${hostOf(tool)}`)

function chosen(reference: string, tool: BundleTool, index: number): TooldexError {
  const message = `The document would send the stored secret '${reference}' to ${hostOf(tool)}.`
  const hint = `Name the secret yourself to allow it (--auth ${reference}), or import under another --namespace.`
  const pointer = toPointer(['tools', index, 'executorConfig', 'auth'])
  return new TooldexError('NAME_TAKEN', message, { hint, problems: [{ severity: 'error', pointer, message, hint }] })
}
