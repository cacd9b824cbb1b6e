import type { RegistryState } from '../../contract/stores.ts'

/** The state of the registry at the start of a request. */
export interface PresentState {
  readonly state: RegistryState
  readonly readAt: number
}

// Reading a body, or waiting, may take longer: the registry is then read anew.
const validMs = 1000

export const presentState = (state: RegistryState | undefined): PresentState | undefined =>
  state === undefined ? undefined : { state, readAt: performance.now() }

/** The state of the registry that a request may rely on; undefined where it has to be read. */
export const validState = ({ present }: { readonly present?: PresentState | undefined }): RegistryState | undefined =>
  present !== undefined && performance.now() - present.readAt < validMs ? present.state : undefined
