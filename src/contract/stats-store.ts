/** The numbers of the contents of a workspace. */
export interface RegistryCounts {
  /** Tools by status and by executor; zeros may be absent. */
  readonly status: Readonly<Record<string, number>>
  readonly executorType: Readonly<Record<string, number>>
  readonly versions: number
  readonly categories: number
  readonly tags: number
  readonly policies: number
  readonly openProposals: number
  /** Without revoked ones. */
  readonly keys: number
}

export interface StatsStore {
  /** Where names are passed, only tools with these names, and their contents, are counted. */
  count(workspace: string, names?: ReadonlySet<string>): Promise<RegistryCounts>
  /** The size of the whole database, of all workspaces. */
  size(): Promise<{ readonly engine: 'pglite' | 'postgres'; readonly bytes: number }>
}
