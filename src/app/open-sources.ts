import { TooldexError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import type { GrantsOf } from '../contract/executor-kinds.ts'
import type { HttpServer, McpServer } from '../contract/mcp-server.ts'
import type { SecretBox, SecretScope } from '../contract/secret.ts'
import type { SignInClient } from '../contract/sign-in.ts'
import type { SourceRef, SourceServers } from '../contract/source.ts'
import type { Stores } from '../contract/stores.ts'
import { type McpExecutor, SignIns, type SourceAccess } from '../executors/index.ts'
import { SourceKeeper } from '../operations/sources/source-keeper.ts'
import { requireServerGrants } from '../policy/index.ts'
import { approvalHash } from '../rules/server-definition.ts'

interface SourceParts {
  readonly grantsOf: GrantsOf
  readonly secretsOf: (workspace: string) => SecretScope
  readonly box: SecretBox
}

/** The stored sources for the executor of MCP tools: it starts only what is approved, and granted to its workspace. */
export function sourceAccess({ sources, signIns }: Stores, parts: SourceParts) {
  const { grantsOf, secretsOf, box } = parts
  const find = async ({ workspace, name }: SourceRef): Promise<McpServer> => {
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
  }
  const findUrl = async (ref: SourceRef): Promise<HttpServer> => {
    const server = await find(ref)
    if ('url' in server) return server
    throw new TooldexError('INPUT_INVALID', `The source '${ref.name}' is a program, which needs no sign-in.`, {
      hint: 'Only servers with a URL have a sign-in.',
    })
  }
  return {
    secretsOf,
    find,
    signIns: new SignIns({ store: signIns, box, secretsOf, find: findUrl }),
    onAttempt(ref, reason, needsSignIn) {
      const need = needsSignIn ? { needsSignIn } : {}
      const failure = reason === undefined ? null : { at: new Date().toISOString(), reason, ...need }
      // The state is for display only.
      void sources.noteAttempt(ref, failure).catch(() => {})
    },
  } satisfies SourceAccess
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
  signIns: SignInClient,
): SourceServers | undefined {
  const { sources } = upstreams
  if (sources === undefined) return undefined
  return {
    requireGrants: (workspace, server) => requireServerGrants(server, workspace, grantsOf),
    read: (ref, signal, actor) => sources.read(ref, signal, actor),
    request: (ref, method, request, actor) => sources.request(ref, method, request, actor),
    stateOf: (ref) => sources.stateOf(ref),
    stop: (ref, caller) => sources.stop(ref, caller),
    signIns,
  }
}
