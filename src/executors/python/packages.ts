import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import { findPython } from '../process/find-python.ts'

const deadlineMs = 10 * 60_000
const maxOutput = 64_000

/** The settings of pip and the variables it needs to reach an index; no other variable is inherited. */
const inherited = /^(PIP_.*|PATH|HOME|LANG|LC_.*|TMPDIR|(https?|all|no)_proxy|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE)$/i

// Only wheels: building a package from source would run its code outside the sandbox.
const options = ['--only-binary=:all:', '--no-input', '--disable-pip-version-check', '--retries=1', '--timeout=20']

/** The packages to install, and the target folder. */
interface Installation {
  readonly dependencies: readonly string[]
  readonly folder: string
  readonly env: Environment
  readonly signal?: AbortSignal | undefined
}

/** Installs packages from wheels into a folder, with the pip of the Python that runs tools. */
export async function installPackages({ dependencies, folder, env, signal }: Installation): Promise<void> {
  const python = findPython(env)
  if (python === undefined)
    throw new TooldexError('COMMAND_NOT_FOUND', 'Packages cannot be installed, because python3 is not installed.', {
      hint: 'Install Python 3.9 or newer with pip, or set TOOLDEX_PYTHON to its path.',
    })
  const args = ['-s', '-m', 'pip', 'install', ...options, '--target', folder, '--', ...dependencies]
  const { code, output, reason } = await runPip(python, args, { folder, env, signal })
  if (code === 0) return
  const missing = /No module named '?pip/.test(output)
  throw new TooldexError(
    'PACKAGES_MISSING',
    `The packages could not be installed: ${reason ?? `${lastError(output)}.`}`,
    {
      hint: missing
        ? `Install pip for ${python} (on Debian: apt-get install python3-pip), or set TOOLDEX_PYTHON to another Python.`
        : `Check names and versions; only wheels are installed. Without a network, copy the wheels into a folder (pip download --dest FOLDER ...) and run: PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER ${buildCommand(dependencies)}`,
    },
  )
}

interface PipEnd {
  readonly code: number | null
  readonly output: string
  readonly reason?: string
}

function runPip(
  python: string,
  args: readonly string[],
  { folder, env, signal }: Omit<Installation, 'dependencies'>,
): Promise<PipEnd> {
  signal?.throwIfAborted()
  return new Promise((resolve) => {
    const pipEnv = Object.fromEntries(Object.entries(env).filter(([name]) => inherited.test(name)))
    // In the new folder, because Python imports modules from its working folder.
    const child = spawn(python, args, { env: pipEnv, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let reason: string | undefined
    const stop = (why: string) => {
      reason ??= why
      child.kill('SIGKILL')
    }
    const timer = setTimeout(() => stop(`pip took longer than ${deadlineMs / 60_000} minutes.`), deadlineMs)
    const cancel = () => stop('cancelled.')
    signal?.addEventListener('abort', cancel, { once: true })
    const end = (code: number | null) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', cancel)
      resolve({ code: reason === undefined ? code : null, output, ...(reason === undefined ? {} : { reason }) })
    }
    child.on('error', (error) => {
      reason ??= error.message
      end(null)
    })
    child.on('close', end)
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output = (output + chunk).slice(-maxOutput)
      })
  })
}

const unreachable =
  /connection broken by|Could not fetch URL|Failed to establish a new connection|Max retries exceeded/i

/** The last line that pip marks as an error; after a network error that line only says that no version was found. */
function lastError(output: string): string {
  if (unreachable.test(output)) return `the package index could not be reached (${lastMarked(output)})`
  return lastMarked(output)
}

function lastMarked(output: string): string {
  const lines = output.split('\n').map((line) => line.trim())
  const marked = lines.filter((line) => line.startsWith('ERROR: ')).map((line) => line.slice('ERROR: '.length))
  return (marked.at(-1) ?? lines.filter(Boolean).at(-1) ?? 'pip failed').slice(0, 500)
}

const name = '[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?'
const clause = '(?:===|==|~=|!=|<=|>=|<|>)[A-Za-z0-9.*+!_-]+'
const requirement = new RegExp(`^(${name})(?:\\[(${name}(?:,${name})*)\\])?(${clause}(?:,${clause})*)?$`)
const maxPackages = 50

const withoutSpaces = (text: string): string => text.replaceAll(/[ \t]/g, '')

/** One package of a Python tool: a name with extras and versions, never an option, path or URL of pip. */
const Dependency = z
  .string()
  .max(200)
  .refine(
    (text) => requirement.test(withoutSpaces(text)),
    'must be a package name, with versions if needed, such as requests==2.32.3 or httpx[http2]>=0.27,<1; ' +
      'options, URLs, paths and markers are not accepted',
  )

/** The packages that a Python tool imports. */
export const Dependencies = z.array(Dependency).min(1).max(maxPackages)

/** The same list in one spelling and order, without duplicates. */
export function normalizeDependencies(list: readonly string[]): readonly string[] {
  const spelled = list.map((text) => {
    const [, packageName = '', extras, versions = ''] = requirement.exec(withoutSpaces(text)) ?? []
    const names = extras?.split(',').map(normalizeName).sort().join(',')
    return `${normalizeName(packageName)}${names === undefined ? '' : `[${names}]`}${versions.split(',').sort().join(',')}`
  })
  return [...new Set(spelled)].sort()
}

const normalizeName = (text: string): string => text.toLowerCase().replaceAll(/[-_.]+/g, '-')

/** The name of the environment for a list of packages; equal lists share one. */
export const environmentNameOf = (list: readonly string[]): string =>
  `deps-${createHash('sha256').update(normalizeDependencies(list).join('\n')).digest('hex').slice(0, 16)}`

/** The command that installs a list of packages on a host. */
export const buildCommand = (list: readonly string[]): string =>
  `tooldex envs build ${normalizeDependencies(list)
    .map((text) => `'${text}'`)
    .join(' ')}`
