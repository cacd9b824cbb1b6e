import type { Caller, Condition } from './stores.ts'

/** Definitions by name. */
export interface DefinitionStore<Definition extends { readonly name: string }> {
  list(workspace: string): Promise<readonly Definition[]>
  get(workspace: string, name: string): Promise<Definition | undefined>
  /** Creates a definition or replaces the one with the same name. */
  put(caller: Caller, definition: Definition, options?: Condition): Promise<void>
  remove(caller: Caller, name: string, options?: Condition): Promise<void>
}
