import { TooldexError } from '../../base/errors.ts'
import { backupDatabase } from '../../operations/database/dump-database.ts'
import { type SavedDump, saveDump } from '../../operations/database/dump-file.ts'
import { type RemoteServer, requestRemote } from '../../operations/registry-client/remote-client.ts'
import type { CliHost } from './host.ts'

/** Writes the database of a server to a file; without a server name, of the local server if it has the database locked. */
export async function downloadDump(
  host: CliHost,
  { file, server }: { readonly file: string; readonly server: string | undefined },
  dumpLocal: () => Promise<SavedDump>,
): Promise<SavedDump> {
  const named = server === undefined ? undefined : host.findServer(server)
  if (named !== undefined) return download(host, file, named)
  try {
    return await dumpLocal()
  } catch (thrown) {
    const running = host.runningServer()
    if (!isLocked(thrown) || running === undefined) throw thrown
    if (running.key === undefined) throw withoutKey(thrown, running.url)
    return await download(host, file, running)
  }
}

async function download(host: CliHost, file: string, remote: RemoteServer): Promise<SavedDump> {
  const { signal } = host
  const body = await requestRemote(remote, backupDatabase, {}, { signal }, async (response) => response.body)
  const chunks = (body ?? new ReadableStream()) as unknown as AsyncIterable<Uint8Array>
  return saveDump(file, chunks, (lines) => host.err(`${lines} rows\n`))
}

const isLocked = (thrown: unknown): thrown is TooldexError =>
  thrown instanceof TooldexError && thrown.code === 'DATABASE_LOCKED'

const withoutKey = ({ message }: TooldexError, url: string) =>
  new TooldexError('DATABASE_LOCKED', message, {
    hint: `Set TOOLDEX_API_KEY to an admin key to download the file from the server at ${url}.`,
  })
