import { mustExist } from '../../base/errors.ts'
import type { SourceChange, SourceEvent, StoredSource } from '../../contract/source.ts'
import type { Caller, Stores } from '../../contract/stores.ts'

/** A change of a source with its audit entry; undefined where nothing changes. */
export type SourceEdit = (SourceEvent & { readonly change: SourceChange }) | undefined

/** The store of sources, and the actor of a change. */
export interface PlannedParts {
  readonly stores: Pick<Stores, 'sources'>
  readonly caller: Caller
  readonly signal?: AbortSignal | undefined
}

/** Changes a source by a plan that takes time, which is made again where the source has changed meanwhile. */
export async function changePlanned(
  { stores: { sources }, caller }: PlannedParts,
  name: string,
  plan: (source: StoredSource) => Promise<SourceEdit>,
): Promise<StoredSource> {
  for (;;) {
    const source = mustExist(await sources.get(caller.workspace, name), 'source', name)
    const planned = await plan(source)
    if (planned === undefined) return source
    let isPresent = false
    const after = await sources.change(caller, name, (current) => {
      isPresent = current.revision === source.revision
      return isPresent ? planned : undefined
    })
    if (isPresent) return after
  }
}
