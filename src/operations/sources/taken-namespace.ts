import { TooldexError } from '../../base/errors.ts'
import { builtinNamespaces } from '../../rules/builtin-names.ts'
import type { OperationContext } from '../operation.ts'

/** Tools of another origin must keep their namespace for themselves. */
export async function refuseTakenNamespace(
  { catalog }: OperationContext<'catalog'>,
  name: string,
  others: readonly (string | null | undefined)[] = [],
): Promise<void> {
  const isSame = (other: string | null | undefined) => other?.toLowerCase() === name.toLowerCase()
  const taken = (await catalog.open())
    .list()
    .find(({ tool, runnable }) => isSame(tool.namespace) && runnable?.source === undefined)
  if (taken === undefined && ![...builtinNamespaces, ...others].some(isSame)) return
  throw new TooldexError('NAME_TAKEN', `'${name}' is the namespace of other tools.`, { hint: 'Choose another name.' })
}
