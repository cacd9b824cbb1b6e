import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import type { SandboxLimits } from './sandbox-limits.ts'

/** A folder or file of the machine that a run may use. */
export interface Mount {
  readonly source: string
  readonly target: string
  /** Read-only where absent. */
  readonly writable?: boolean | undefined
}

/** The settings of one sandbox. */
export interface SandboxShape {
  readonly limits: SandboxLimits
  readonly network: boolean
  readonly mounts: readonly Mount[]
  readonly env: Readonly<Record<string, string>>
  /** The working folder, as a path inside the sandbox. */
  readonly cwd: string
}

/** The work folder of a run: empty at its start, removed at its end. */
export const workFolder = '/work'
/** The PATH inside a sandbox. */
export const sandboxPath = '/usr/local/bin:/usr/bin:/bin'
/** The user id inside a sandbox, independent of the user outside. */
const insideId = '1000'
const mebibyte = 1024 ** 2

/** The bubblewrap arguments of a sandbox; the program and its arguments follow them. */
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
    // The remaining tree contains only the mounts, so it is read-only.
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--chdir', cwd],
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
  ]
}

/** Programs and libraries: /usr, and the top-level folders and links such as /bin and /lib. */
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
