import { TooldexError } from '../../base/errors.ts'
import { type StdioServer, sandboxOfServer } from '../../contract/mcp-server.ts'
import type { ProcessScope } from '../process/containment.ts'
import { type AllowedFolder, folderOf, isIn } from '../sandbox/allowed-folders.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { SandboxLimits } from '../sandbox/sandbox-limits.ts'
import {
  allowFolderHint,
  interpreterMounts,
  mergeMounts,
  resolveExistingPath,
  toMounts,
  visibleEnv,
  visibleFolder,
  visibleProgram,
} from '../sandbox/visible-program.ts'
import type { ServerProgram } from './stdio-transport.ts'

/** A server lives for days, and its runtime reserves far more memory than it uses. */
const limits: SandboxLimits = {
  memoryMb: 16_384,
  cpuSeconds: 30 * 86_400,
  processes: 256,
  fileMb: 1024,
  openFiles: 4096,
}

/** The program of a server and its sandbox, at the level that its definition names. */
export async function openSandboxed(
  server: StdioServer,
  sandbox: Sandbox | undefined,
  declared: Readonly<Record<string, string>>,
): Promise<{ readonly program: ServerProgram; readonly scope: ProcessScope }> {
  const what = `The MCP server ${server.command}`
  if (sandbox === undefined)
    throw new TooldexError('SANDBOX_MISSING', `${what} needs a sandbox, which this process does not have.`, {
      hint: 'Call it through a server (tooldex serve).',
    })
  const wanted = sandboxOfServer(server)
  const level = await sandbox.levelFor(what, wanted === 'best' ? undefined : wanted)
  if (level === 'limited')
    throw new TooldexError('SANDBOX_MISSING', `${what} needs a sandbox, which this machine does not support.`, {
      hint: 'Install bubblewrap, or set isolation to limited to run it without a sandbox.',
    })
  const network = sandbox.networkFor(what, server.network)
  const folders = (server.folders ?? []).map((folder) => grantedFolder(folder, sandbox.folders))
  const { cwd, mounts } = visibleFolder(folders, level, server.cwd)
  const found = programIn(folders, server.command, cwd)
  const env = { ...visibleEnv(level), ...declared }
  const scope = await sandbox.openScope({
    level,
    program: found.program,
    argv: [server.command, ...server.args],
    env,
    cwd,
    limits,
    network,
    mounts: mergeMounts([...toMounts(folders), ...mounts, ...found.mounts]),
    asOwnerOf: folders.find(({ writable }) => writable)?.path ?? folders[0]?.path,
    withChannel: false,
  })
  return { program: { program: found.program, args: server.args, cwd: '/', env: {} }, scope }
}

/** A program of the system, of a visible folder, or the Node that runs this process. */
function programIn(folders: readonly AllowedFolder[], command: string, cwd: string | undefined) {
  const own = process.execPath
  if (command === own || command === 'node') return { program: own, mounts: interpreterMounts(own) }
  return visibleProgram(folders, command, { cwd })
}

/** A folder of a definition, within those that the operator allows and no more writable than they are. */
function grantedFolder(folder: string, allowed: readonly AllowedFolder[]): AllowedFolder {
  const [, input = '', mode] = /^(.*?)(?::(ro|rw))?$/s.exec(folder) ?? []
  const path = resolveExistingPath(input)
  const within = path === undefined ? undefined : folderOf(path, allowed)
  if (path === undefined || within === undefined)
    throw new TooldexError('POLICY_REFUSED', `The folder ${input.slice(0, 200)} is not allowed on this server.`, {
      hint: allowFolderHint(input.slice(0, 200)),
    })
  if (mode === 'rw' && !within.writable)
    throw new TooldexError('POLICY_REFUSED', `The folder ${input.slice(0, 200)} is read-only on this server.`, {
      hint: allowFolderHint(`${input.slice(0, 200)}:rw`),
    })
  const inner = allowed.find((each) => each !== within && isIn(each.path, path))
  return { path, writable: mode === 'rw' && inner?.writable !== false }
}
