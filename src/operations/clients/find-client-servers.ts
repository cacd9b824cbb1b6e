import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { toTooldexError } from '../../base/errors.ts'
import { readTextFile } from '../../documents/read-text-file.ts'
import { type ClientEnvironment, type ClientScope, clientFilePath, clientNames, clients } from './client-files.ts'
import { type ClientServer, readClientServers } from './read-client-servers.ts'

/** The files of MCP clients of this user and project that exist. */
function findClientFiles(environment: ClientEnvironment): readonly string[] {
  return clientNames
    .flatMap((name) =>
      (Object.keys(clients[name].files) as ClientScope[]).map((scope) => clientFilePath(name, scope, environment)),
    )
    .filter((file) => existsSync(file))
}

/** The servers in one file, or in those of all clients; of several with the same definition, the first. */
export function findClientServers(environment: ClientEnvironment, file?: string): readonly ClientServer[] {
  const files = file === undefined ? findClientFiles(environment) : [file]
  const { env, cwd } = environment
  const read = (path: string) => readClientServers(readTextFile(path), { file: path, env, cwd })
  const found = files.flatMap((path) => (file === undefined ? readOrSkip(path, read) : read(path)))
  const taken = new Map<string, string>()
  return found.flatMap((server) => {
    const definition = JSON.stringify(server.fields ?? server.skipped)
    if ([...taken].some(([name, known]) => known === definition && name.startsWith(server.name))) return []
    let { name } = server
    for (let number = 2; taken.has(name); number++) name = `${server.name.slice(0, 60)}-${number}`
    taken.set(name, definition)
    return [{ ...server, name }]
  })
}

/** A file that cannot be read does not hide the servers of other clients. */
function readOrSkip(file: string, read: (path: string) => readonly ClientServer[]): readonly ClientServer[] {
  try {
    return read(file)
  } catch (thrown) {
    const { message } = toTooldexError(thrown)
    return [{ original: basename(file), name: basename(file), file, skipped: message }]
  }
}
