import type { Caller, Condition, RegistryState } from './stores.ts'

/** Definitions by name. */
export interface DefinitionStore<Definition extends { readonly name: string }> {
  /** With a state of the registry, at least as new as that. */
  list(workspace: string, state?: RegistryState): Promise<readonly Definition[]>
  get(workspace: string, name: string): Promise<Definition | undefined>
  /** Creates a definition or replaces the one with the same name. */
  put(caller: Caller, definition: Definition, options?: Condition): Promise<void>
  remove(caller: Caller, name: string, options?: Condition): Promise<void>
}
