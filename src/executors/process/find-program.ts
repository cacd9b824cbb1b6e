import { accessSync, closeSync, constants, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { BoundedMap } from '../../base/bounded-map.ts'
import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import { toOneLine } from '../../base/invisible-characters.ts'

/**
 * The file that a command runs. It is looked up before the start, because the system reports a missing program, a missing
 * interpreter and a missing folder alike, and passes a file that it cannot execute to a shell.
 */
export function findProgram(word: string, env: Environment, cwd: string): string {
  if (word === '') throw new TooldexError('COMMAND_NOT_FOUND', 'The command is empty.')
  const candidates = word.includes('/')
    ? [resolve(cwd, word)]
    : (env.PATH ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter).map((dir) => join(resolve(cwd, dir), word))
  // An unreadable folder of PATH is skipped; for an explicit path it is an error.
  const files = candidates.filter((path) => isFile(path, word.includes('/') ? ['EACCES'] : []))
  const program = files.find(isExecutable)
  if (program !== undefined) {
    requireRunnable(program, { word, cwd, depth: 0 })
    return program
  }
  if (files.length > 0) throw new TooldexError('COMMAND_NOT_EXECUTABLE', `${word} is not executable.`)
  throw new TooldexError('COMMAND_NOT_FOUND', `Command not found: ${word}`, hintFor(word))
}

/** What provides the programs that start published servers. */
const providers: Readonly<Record<string, string>> = {
  npx: 'Node.js (https://nodejs.org)',
  bunx: 'Bun (https://bun.sh)',
  uvx: 'uv (https://docs.astral.sh/uv)',
  docker: 'Docker (https://docs.docker.com/get-docker)',
  podman: 'Podman (https://podman.io)',
  dnx: 'the .NET SDK, version 10 or later (https://dotnet.microsoft.com)',
}

function hintFor(word: string): { readonly hint?: string } {
  const provider = Object.hasOwn(providers, word) ? providers[word] : undefined
  return provider === undefined ? {} : { hint: `${word} is part of ${provider}: install it, or put it on PATH.` }
}

function isFile(path: string, fatal: readonly string[] = []): boolean {
  try {
    return statSync(path).isFile()
  } catch (error) {
    if (fatal.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    return false
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return isFile(path)
  } catch {
    return false
  }
}

interface Lookup {
  readonly word: string
  readonly cwd: string
  /** The number of interpreters between the command and this file; the system follows four. */
  readonly depth: number
}

const machMagics = ['cffaedfe', 'cefaedfe', 'feedface', 'feedfacf', 'cafebabe']

function requireRunnable(program: string, lookup: Lookup): void {
  const head = readHead(program)
  if (head === undefined || machMagics.includes(head.subarray(0, 4).toString('hex'))) return
  if (isElf(head)) requireRunnableElf(head, lookup)
  else requireInterpreter(head, lookup)
}

function requireInterpreter(head: Buffer, lookup: Lookup): void {
  const [, interpreter] = /^#![ \t]*([^ \t\n]+)/.exec(head.toString('latin1')) ?? []
  if (interpreter === undefined || lookup.depth > 4) {
    throw refuse(lookup.word, 'is neither a program nor a script with a #! line.')
  }
  const path = resolve(lookup.cwd, interpreter)
  if (!isExecutable(path)) {
    const installHint = 'Install it, or fix the first line of the script.'
    const hint = interpreter.endsWith('\r') ? 'Save the script with Unix line endings.' : installHint
    throw refuse(lookup.word, `needs the interpreter ${toOneLine(interpreter)}, which does not exist.`, hint)
  }
  requireRunnable(path, { ...lookup, depth: lookup.depth + 1 })
}

function requireRunnableElf(head: Buffer, { word }: Lookup): void {
  if (!runsHere(head)) throw refuse(word, 'is not a program that this machine can run.')
  const loader = elfLoader(head)
  if (loader === undefined || isExecutable(loader)) return
  throw refuse(
    word,
    `needs the loader ${toOneLine(loader)}, which does not exist.`,
    'Install a build of the program for this system.',
  )
}

const refuse = (word: string, why: string, hint?: string) =>
  new TooldexError('COMMAND_NOT_EXECUTABLE', `${word} ${why}`, hint === undefined ? {} : { hint })

/** The first bytes of a file; undefined if it is executable but not readable. */
function readHead(path: string): Buffer | undefined {
  try {
    const descriptor = openSync(path, 'r')
    const head = Buffer.alloc(4096)
    const size = readSync(descriptor, head)
    closeSync(descriptor)
    return head.subarray(0, size)
  } catch {
    return undefined
  }
}

/** Whether a file begins with the ELF magic number. */
const isElf = (head: Buffer): boolean => head.subarray(0, 4).toString('hex') === '7f454c46'

// The ELF machine numbers that each processor supports, 32-bit ones included.
const machines: Readonly<Record<string, readonly number[]>> = {
  x64: [62, 3],
  arm64: [183, 40],
  ia32: [3],
  arm: [40],
  ppc64: [21],
  s390x: [22],
  riscv64: [243],
}

/** Whether the system can execute the file; otherwise it would be passed to a shell. */
function runsHere(head: Buffer): boolean {
  if (head.length < 52) return false
  const executable = [2, 3].includes(readShort(head, 16))
  const supported = machines[process.arch]
  return executable && (supported === undefined || supported.includes(readShort(head, 18)) || hasEmulators())
}

/** Registered emulators can run programs of other processors. */
function hasEmulators(): boolean {
  try {
    return readdirSync('/proc/sys/fs/binfmt_misc').some((name) => name !== 'register' && name !== 'status')
  } catch {
    return false
  }
}

/** The loader of a dynamically linked program, if the first bytes of the file contain its path. */
function elfLoader(head: Buffer): string | undefined {
  const wide = head[4] === 2
  if (head[5] !== 1) return undefined
  const [table, size, count] = wide
    ? [Number(head.readBigUInt64LE(32)), readShort(head, 54), readShort(head, 56)]
    : [head.readUInt32LE(28), readShort(head, 42), readShort(head, 44)]
  for (let at = table; at < table + size * count && at + 56 <= head.length; at += size) {
    if (head.readUInt32LE(at) !== 3) continue
    const start = wide ? Number(head.readBigUInt64LE(at + 8)) : head.readUInt32LE(at + 4)
    const end = head.indexOf(0, start)
    return start > 0 && end > start ? head.toString('latin1', start, end) : undefined
  }
  return undefined
}

const readShort = (head: Buffer, at: number) => (head[5] === 2 ? head.readUInt16BE(at) : head.readUInt16LE(at))

const maxEntries = 500

interface CacheEntry {
  readonly path: string
  readonly stamp: string
}

/** Caches the results of `findProgram` while the files are unchanged. */
export class ProgramFinder {
  readonly #cache = new BoundedMap<string, CacheEntry>(maxEntries)

  find(word: string, env: Environment, cwd: string): string {
    const key = [word, env.PATH ?? '', cwd].join('\0')
    const cached = this.#cache.get(key)
    if (cached !== undefined && cached.stamp === stampOf(cached.path)) return cached.path
    const path = findProgram(word, env, cwd)
    this.#cache.set(key, { path, stamp: stampOf(path) })
    return path
  }
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? '' : `${stat.ino} ${stat.mode} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`
}
