import { TooldexError } from '../../base/errors.ts'
import type { Stores } from '../../contract/stores.ts'
import { builtinNamespaces } from '../../rules/builtin-names.ts'
import type { OperationContext } from '../operation.ts'

/**
 * Tools of another origin must keep their namespace for themselves, drafts included: they would be tools of the source by name.
 * Inside a transaction, `stores` are those of the transaction: the embedded database has one connection.
 */
export async function refuseTakenNamespace(
  { catalog, caller }: OperationContext<'catalog'>,
  stores: Pick<Stores, 'tools'>,
  name: string,
  others: readonly (string | null | undefined)[] = [],
): Promise<void> {
  const isSame = (other: string | null | undefined) => other?.toLowerCase() === name.toLowerCase()
  const { items } = await stores.tools.list(caller.workspace, { namespace: name, limit: maxNamed + 1 })
  if (items.length > 0) {
    const named = items.slice(0, maxNamed).map((tool) => `${tool.name} (${tool.status})`)
    const more = items.length > maxNamed ? ' and more' : ''
    throw taken(name, `Registered tools have it: ${named.join(', ')}${more}. Delete them or choose another name.`)
  }
  const offered = (await catalog.open())
    .list()
    .find(({ tool, runnable }) => isSame(tool.namespace) && runnable?.source === undefined)
  if (offered !== undefined || [...builtinNamespaces, ...others].some(isSame)) throw taken(name, 'Choose another name.')
}

const maxNamed = 3

const taken = (name: string, hint: string): TooldexError =>
  new TooldexError('NAME_TAKEN', `'${name}' is the namespace of other tools.`, { hint })
