import { TooldexError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import type { GrantsOf } from '../contract/grants.ts'
import type { SecretScope } from '../contract/secret.ts'
import type { SourceServers, SourceStore } from '../contract/source.ts'
import type { Stores } from '../contract/stores.ts'
import type { McpExecutor, SourceAccess } from '../executors/index.ts'
import { SourceKeeper } from '../operations/sources/source-keeper.ts'
import { requireServerGrants } from '../policy/index.ts'
import { approvalHash } from '../rules/source-approval.ts'

interface SourceParts {
  readonly grantsOf: GrantsOf
  readonly secretsOf: (workspace: string) => SecretScope
}

/** The stored sources for the executor of MCP tools: it starts only what is approved, and granted to its workspace. */
export function sourceAccess(sources: SourceStore, { grantsOf, secretsOf }: SourceParts): SourceAccess {
  return {
    secretsOf,
    async find({ workspace, name }) {
      const source = await sources.summary(workspace, name)
      if (source === undefined)
        throw new TooldexError('UPSTREAM_UNKNOWN', `There is no source '${name}'.`, {
          hint: 'It was removed; list the sources with: tooldex sources',
        })
      const { server, approvedHash } = source
      requireServerGrants(server, workspace, grantsOf)
      if (approvedHash === approvalHash(server)) return server
      throw new TooldexError('UPSTREAM_UNKNOWN', `The command or URL of the source '${name}' is not approved.`, {
        hint: `Check and approve it with: tooldex sources approve ${name}`,
      })
    },
    onAttempt(ref, reason) {
      const failure = reason === undefined ? null : { at: new Date().toISOString(), reason }
      // The state is for display only.
      void sources.noteAttempt(ref, failure).catch(() => {})
    },
  }
}

/** Compares the definitions of servers with the accepted ones, whenever they may have changed. */
export function keepSources(mcp: Pick<McpExecutor, 'upstreams'>, stores: Stores, logger: Logger): void {
  const { sources } = mcp.upstreams
  if (sources === undefined) return
  const keeper = new SourceKeeper({ stores, servers: sources, logger })
  sources.onDefinitions = (ref) => keeper.check(ref)
}

/** The servers of sources for operations. */
export function toSourceServers(
  { upstreams }: Pick<McpExecutor, 'upstreams'>,
  grantsOf: GrantsOf,
): SourceServers | undefined {
  const { sources } = upstreams
  if (sources === undefined) return undefined
  return {
    requireGrants: (workspace, server) => requireServerGrants(server, workspace, grantsOf),
    read: (ref, signal) => sources.read(ref, signal),
    request: (ref, method, request) => sources.request(ref, method, request),
    stateOf: (ref) => sources.stateOf(ref),
    stop: (ref) => sources.stop(ref),
  }
}
