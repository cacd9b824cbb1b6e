import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import type { SandboxLimits } from './sandbox-limits.ts'

/** A folder or file of the machine that a run may use. */
export interface Mount {
  readonly source: string
  readonly target: string
  /** Only read where absent. */
  readonly writable?: boolean | undefined
}

/** What one sandbox is made of. */
export interface SandboxShape {
  readonly limits: SandboxLimits
  readonly network: boolean
  readonly mounts: readonly Mount[]
  readonly env: Readonly<Record<string, string>>
  /** Where the program starts, as it sees it. */
  readonly cwd: string
}

/** Where a run works: empty when it begins, gone when it ends. */
export const workFolder = '/work'
/** What programs are found by inside. */
export const sandboxPath = '/usr/local/bin:/usr/bin:/bin'
/** Who a run is inside, whoever it is outside. */
const insideId = '1000'
const mebibyte = 1024 ** 2

/** The words for bubblewrap that make a sandbox; the program and its words come after them. */
export function bubblewrapArguments(shape: SandboxShape): readonly string[] {
  const { limits, network, mounts, env, cwd } = shape
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(network ? [] : ['--unshare-net']),
    ...['--uid', insideId, '--gid', insideId, '--hostname', 'sandbox', '--die-with-parent', '--new-session'],
    ...systemFolders(),
    ...readable('/etc', ['alternatives', 'ld.so.cache', 'ssl/certs', 'ca-certificates', 'localtime', 'mime.types']),
    ...(network ? readable('/etc', ['resolv.conf', 'hosts', 'nsswitch.conf', 'services']) : []),
    ...['--proc', '/proc', '--dev', '/dev', '--size', String(16 * mebibyte), '--tmpfs', '/dev/shm'],
    ...['--size', String(limits.fileMb * mebibyte), '--tmpfs', workFolder],
    ...['--dir', `${workFolder}/.tmp`, '--symlink', 'work/.tmp', '/tmp'],
    ...mounts.flatMap(({ source, target, writable }) => [writable ? '--bind' : '--ro-bind', source, target]),
    // What is left is only there to hold the mounts; nobody needs to write to it.
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--chdir', cwd],
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
  ]
}

/** Programs and libraries: /usr, and what on this machine leads into it or lies beside it. */
function systemFolders(): readonly string[] {
  const beside = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].filter((path) => existsSync(path))
  return [
    ...['--ro-bind', '/usr', '/usr'],
    ...beside.flatMap((path) =>
      lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path],
    ),
  ]
}

const readable = (folder: string, names: readonly string[]): readonly string[] =>
  names.flatMap((name) => ['--ro-bind-try', `${folder}/${name}`, `${folder}/${name}`])
