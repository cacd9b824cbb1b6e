import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import { Semaphore } from '../../base/semaphore.ts'
import { EnvironmentName } from './check-python-script.ts'
import { buildCommand, environmentNameOf, installPackages, normalizeDependencies } from './packages.ts'

/** A set of packages that scripts can import. */
export interface PythonEnvironment {
  readonly name: string
  /** The folder that contains the packages. */
  readonly folder: string
  /** Changes with the installed packages. */
  readonly fingerprint: string
  /** The requested packages, if the environment was built from a list. */
  readonly dependencies?: readonly string[]
}

interface BuildOptions {
  readonly env: Environment
  readonly signal?: AbortSignal | undefined
}

const maxBuilt = 100
const unfinished = '.building-'
// Longer than an installation may take.
const leftoverAfterMs = 3_600_000
const listFile = '.tooldex-dependencies.json'
const BuiltList = z.object({ dependencies: z.array(z.string()) })
// One installation at a time: pip loads the network and the disk.
const installations = new Semaphore({ slots: 1, waiting: 20 })

/** The Python environments of this machine: each is a subfolder of one folder, or a link in it. */
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

  /** Returns the environment with this name, or throws NOT_FOUND. */
  find(name: string): PythonEnvironment {
    const path = join(this.#folder, name)
    if (!EnvironmentName.safeParse(name).success || !this.#isFolder(name))
      throw new TooldexError('NOT_FOUND', `There is no Python environment '${name.slice(0, 100)}' on this host.`, {
        hint: 'An admin can add one with: tooldex envs add NAME PATH',
      })
    const folder = packagesIn(realpathSync(path))
    const dependencies = readBuilt(path)
    return { name, folder, fingerprint: fingerprintOf(folder), ...(dependencies && { dependencies }) }
  }

  /** Whether the packages of a list are installed here. */
  has(dependencies: readonly string[]): boolean {
    return this.#isFolder(environmentNameOf(dependencies))
  }

  /** The environment that was built from a list of packages; throws PACKAGES_MISSING if there is none. */
  findBuilt(dependencies: readonly string[]): PythonEnvironment {
    if (this.has(dependencies)) return this.find(environmentNameOf(dependencies))
    const list = normalizeDependencies(dependencies).join(', ')
    throw new TooldexError('PACKAGES_MISSING', `These packages are not installed on this host: ${list}.`, {
      hint: `The operator of the host can install them: ${buildCommand(dependencies)}`,
    })
  }

  /** Installs a list of packages, unless it is installed already. */
  async build(dependencies: readonly string[], { env, signal }: BuildOptions): Promise<PythonEnvironment> {
    const list = normalizeDependencies(dependencies)
    const name = environmentNameOf(list)
    return installations.run(
      async () => {
        if (this.#isFolder(name)) return this.find(name)
        this.#requireRoom()
        this.#removeLeftovers()
        const temporary = mkdtempSync(join(this.#folder, unfinished))
        try {
          await installPackages({ dependencies: list, folder: temporary, env, signal })
          writeFileSync(join(temporary, listFile), JSON.stringify({ dependencies: list }))
          chmodSync(temporary, 0o755)
          this.#publish(temporary, name)
        } finally {
          rmSync(temporary, { recursive: true, force: true })
        }
        return this.find(name)
      },
      { signal },
    )
  }

  /** A killed process leaves its unfinished folder behind. */
  #removeLeftovers(): void {
    for (const name of readdirSync(this.#folder).filter((entry) => entry.startsWith(unfinished))) {
      const path = join(this.#folder, name)
      const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0)
      if (age > leftoverAfterMs) rmSync(path, { recursive: true, force: true })
    }
  }

  /** If another process has built the same list in the meantime, its folder stays. */
  #publish(temporary: string, name: string): void {
    try {
      renameSync(temporary, join(this.#folder, name))
    } catch (error) {
      if (!this.#isFolder(name)) throw error
    }
  }

  #requireRoom(): void {
    mkdirSync(this.#folder, { recursive: true })
    try {
      requireReadable(this.#folder)
    } catch (error) {
      if (!(error instanceof TooldexError)) throw error
      throw new TooldexError('INPUT_INVALID', error.message, {
        hint: 'Set TOOLDEX_PYTHON_ENVS to a folder that every user may read, such as /opt/tooldex/envs.',
      })
    }
    const built = this.list().filter(({ dependencies }) => dependencies !== undefined).length
    if (built >= maxBuilt)
      throw new TooldexError(
        'RESOURCES_EXHAUSTED',
        `This host has ${built} built environments, which is the maximum.`,
        {
          hint: 'Remove one that no tool needs: tooldex envs list, then tooldex envs remove NAME',
        },
      )
  }

  /** Registers a folder of packages, or a virtual environment, under a name. */
  add(name: string, path: string): PythonEnvironment {
    const parsed = EnvironmentName.safeParse(name)
    if (!parsed.success) throw new TooldexError('INPUT_INVALID', `The name ${parsed.error.issues[0]?.message}.`)
    const folder = resolve(path)
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw new TooldexError('NOT_FOUND', `${folder} is not a folder.`, {
        hint: 'Create it: pip install --target PATH ...',
      })
    requireReadable(packagesIn(folder))
    mkdirSync(this.#folder, { recursive: true })
    rmSync(join(this.#folder, name), { force: true })
    symlinkSync(folder, join(this.#folder, name))
    return this.find(name)
  }

  /** Removes a name. Packages that were added stay where they are; those that were built here are deleted. */
  remove(name: string): PythonEnvironment {
    const found = this.find(name)
    const path = join(this.#folder, name)
    if (found.dependencies === undefined && lstatSync(path).isDirectory())
      throw new TooldexError('INPUT_INVALID', `${path} is a folder that Tooldex did not create.`, {
        hint: 'Delete it yourself if nothing needs it.',
      })
    rmSync(path, { recursive: found.dependencies !== undefined, force: true })
    return found
  }

  #isFolder(name: string): boolean {
    return statSync(join(this.#folder, name), { throwIfNoEntry: false })?.isDirectory() ?? false
  }
}

/** The folder with the packages; in a virtual environment it is `lib/pythonX.Y/site-packages`. */
function packagesIn(folder: string): string {
  const lib = join(folder, 'lib')
  if (!existsSync(join(folder, 'pyvenv.cfg')) || !existsSync(lib)) return folder
  const [version] = readdirSync(lib).filter((name) => name.startsWith('python'))
  const packages = join(lib, version ?? '', 'site-packages')
  return existsSync(packages) ? packages : folder
}

/** The packages that an environment was built from; undefined for a folder that was not built here. */
function readBuilt(path: string): readonly string[] | undefined {
  const file = join(path, listFile)
  if (!lstatSync(path).isDirectory() || !existsSync(file)) return undefined
  return BuiltList.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data?.dependencies
}

/** A hash of the names and modification times of the packages. */
function fingerprintOf(folder: string): string {
  const hash = createHash('sha256')
  for (const name of readdirSync(folder).sort()) {
    hash.update(`${name}\0${statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0}\0`)
  }
  return hash.digest('hex').slice(0, 12)
}

/** Under root, sandboxes run as an unprivileged user, who must be able to read the folder. */
function requireReadable(folder: string): void {
  if (process.geteuid?.() !== 0) return
  const parts = realpathSync(folder).split('/')
  for (let length = 2; length <= parts.length; length++) {
    const path = parts.slice(0, length).join('/')
    const last = length === parts.length
    if ((statSync(path).mode & (last ? 0o5 : 0o1)) === (last ? 0o5 : 0o1)) continue
    throw new TooldexError('INPUT_INVALID', `${path} is not readable for the users that sandboxes run as.`, {
      hint: `Put the packages in a folder that every user may read, such as /opt, or run: chmod o+${last ? 'rx' : 'x'} ${path}`,
    })
  }
}
