import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { TooldexError } from '../../base/errors.ts'
import { EnvironmentName } from './check-config.ts'

/** A set of packages that scripts can import. */
export interface PythonEnvironment {
  readonly name: string
  /** Where the packages are. */
  readonly folder: string
  /** Changes when the set does. */
  readonly fingerprint: string
}

/** The sets of packages of this machine: one entry of a folder for each, or a link to where it is. */
export class Environments {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  list(): readonly PythonEnvironment[] {
    const names = existsSync(this.#folder) ? readdirSync(this.#folder).sort() : []
    return names
      .filter((name) => EnvironmentName.safeParse(name).success && this.#isFolder(name))
      .map((name) => this.find(name))
  }

  /** The set of a name; refused where there is none. */
  find(name: string): PythonEnvironment {
    const path = join(this.#folder, name)
    if (!EnvironmentName.safeParse(name).success || !this.#isFolder(name))
      throw new TooldexError('NOT_FOUND', `There is no Python environment '${name.slice(0, 100)}' here.`, {
        hint: 'An admin can add one with: tooldex envs add NAME PATH',
      })
    const folder = packagesIn(realpathSync(path))
    return { name, folder, fingerprint: fingerprintOf(folder) }
  }

  /** Makes a folder of packages, or a virtual environment, known under a name. */
  add(name: string, path: string): PythonEnvironment {
    const parsed = EnvironmentName.safeParse(name)
    if (!parsed.success) throw new TooldexError('INPUT_INVALID', `The name ${parsed.error.issues[0]?.message}.`)
    const folder = resolve(path)
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw new TooldexError('NOT_FOUND', `${folder} is not a folder.`, {
        hint: 'Make it: pip install --target PATH ...',
      })
    requireOpen(packagesIn(folder))
    mkdirSync(this.#folder, { recursive: true })
    rmSync(join(this.#folder, name), { force: true })
    symlinkSync(folder, join(this.#folder, name))
    return this.find(name)
  }

  /** Forgets a name; the packages stay where they are. */
  remove(name: string): PythonEnvironment {
    const found = this.find(name)
    rmSync(join(this.#folder, name), { force: true })
    return found
  }

  #isFolder(name: string): boolean {
    return statSync(join(this.#folder, name), { throwIfNoEntry: false })?.isDirectory() ?? false
  }
}

/** A virtual environment keeps its packages further down. */
function packagesIn(folder: string): string {
  const lib = join(folder, 'lib')
  if (!existsSync(join(folder, 'pyvenv.cfg')) || !existsSync(lib)) return folder
  const [version] = readdirSync(lib).filter((name) => name.startsWith('python'))
  const packages = join(lib, version ?? '', 'site-packages')
  return existsSync(packages) ? packages : folder
}

/** Which packages there are, in which versions, and when each was put there. */
function fingerprintOf(folder: string): string {
  const hash = createHash('sha256')
  for (const name of readdirSync(folder).sort()) {
    hash.update(`${name}\0${statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0}\0`)
  }
  return hash.digest('hex').slice(0, 12)
}

/** Root starts sandboxes as a user without rights, who must be able to go there. */
function requireOpen(folder: string): void {
  if (process.geteuid?.() !== 0) return
  const parts = realpathSync(folder).split('/')
  for (let length = 2; length <= parts.length; length++) {
    const path = parts.slice(0, length).join('/')
    const last = length === parts.length
    if ((statSync(path).mode & (last ? 0o5 : 0o1)) === (last ? 0o5 : 0o1)) continue
    throw new TooldexError('INPUT_INVALID', `${path} is closed to the users that sandboxes run as.`, {
      hint: `Put the packages where everybody may read, such as /opt, or run: chmod o+${last ? 'rx' : 'x'} ${path}`,
    })
  }
}
