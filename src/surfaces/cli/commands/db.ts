import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import type * as z from 'zod'
import { TooldexError } from '../../../base/errors.ts'
import { databaseStatus, migrateDatabase } from '../../../operations/database/database-status.ts'
import { backupDatabase, exportDatabase, importDatabase } from '../../../operations/database/dump-database.ts'
import { type SavedDump, saveDump } from '../../../operations/database/dump-file.ts'
import { invoke } from '../../../operations/invoke.ts'
import type { ProcessContext } from '../../../operations/operation.ts'
import { type RemoteServer, sendOperation } from '../../../operations/registry-client/remote-client.ts'
import { formatTable } from '../format-table.ts'
import type { CliHost } from '../host.ts'
import { type AddCommand, toJson } from './command.ts'
import { operationCommands } from './operation-command.ts'

interface Flags {
  readonly server?: string
  readonly json?: boolean
}

/** `tooldex db`: database administration. */
export const addDb: AddCommand = (program, host) => {
  const db = program.command('db')
  const add = operationCommands(db, host)
  const local = { isLocal: true, within: <Result>(work: Work<Result>) => withDatabase(host, work) }
  add({
    line: 'migrate',
    about: 'apply pending migrations',
    operation: migrateDatabase,
    ...local,
    text: ({ name, steps }) => `${name} is ${steps.length === 0 ? '' : 'now '}up to date.\n`,
  })
  add({
    line: 'status',
    about: 'show migration status and row counts',
    operation: databaseStatus,
    ...local,
    text: statusText,
  })
  addWriting(db, host, 'backup', 'write the whole database to a file, without stopping the server')
  const loaded = {
    operation: importDatabase,
    ...local,
    text: ({ rows, file }: LoadedDump) => `${total(rows)} rows read from ${file}\n`,
  }
  add({
    line: 'restore <file>',
    about: 'replace the content of the database by a backup',
    ...loaded,
    prepare: (input) => ({ ...requireFile(input), replace: true }),
  })
  addWriting(db, host, 'export', 'write the whole database to a file that any engine can import')
  add({
    line: 'import <file>',
    about: 'import an exported file into an empty database',
    options: ['--replace'],
    ...loaded,
    prepare: requireFile,
  })
}

type Work<Result> = (context: ProcessContext) => Promise<Result>
type LoadedDump = z.output<typeof importDatabase.output>

function statusText(answer: z.output<typeof databaseStatus.output>, { columns }: { readonly columns: number }): string {
  const { name, engine, applied, pending, olderShape, rows } = answer
  const cells = Object.entries(rows ?? {}).map(([table, count]) => [table, String(count)])
  const lines = [
    `${name} (${engine}): ${applied.length} migrations applied, ${pending.length} pending`,
    ...(olderShape ? ['It has tables of the first data model; convert them with: tooldex db migrate'] : []),
    ...pending.map((step) => `  pending: ${step}`),
    ...(cells.length > 0 ? [formatTable(['Table', 'Rows'], cells, columns)] : []),
  ]
  return `${lines.join('\n')}\n`
}

function addWriting(db: Command, host: CliHost, name: string, text: string): void {
  const command = db
    .command(name)
    .description(text)
    .argument('<file>', 'output file, compressed if its name ends in .gz; - for standard output')
    .option('--server <url>', 'use the database of this server (default: the local server if it has the database open)')
  withJson(command).action(async (file: string, flags: Flags) => {
    if (file === '-') return writeOut(host, flags)
    const answer = await writeFile(host, file, flags)
    host.out(flags.json ? toJson(answer) : `${total(answer.rows)} rows written to ${answer.file}\n`)
  })
}

function writeFile(host: CliHost, file: string, { server }: Flags): Promise<SavedDump> {
  const dumpLocal = () => withDatabase(host, (context) => invoke(exportDatabase, { file }, context))
  return downloadDump(host, { file, server }, dumpLocal)
}

/** Goes through a temporary file, so that nothing is printed if the dump fails; the summary goes to stderr. */
async function writeOut(host: CliHost, flags: Flags): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tooldex-export-'))
  try {
    const { file, ...answer } = await writeFile(host, join(folder, 'dump'), flags)
    await host.outAll(createReadStream(file, 'utf8'))
    host.err(flags.json ? toJson({ file: '-', ...answer }) : `${total(answer.rows)} rows written to standard output\n`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function requireFile(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (input.file !== '-') return input
  throw new TooldexError('USAGE', 'A dump cannot be read from standard input.', {
    hint: 'Save it to a file first: the file is read twice, so that a damaged one is rejected before any change.',
  })
}

const withJson = (command: Command): Command => command.option('--json', 'print JSON')
const total = (rows: Readonly<Record<string, number>>): number => Object.values(rows).reduce((sum, n) => sum + n, 0)

/** Opens the database for one command and always closes it; progress is printed on stderr. */
async function withDatabase<Result>(
  host: CliHost,
  work: (context: ProcessContext) => Promise<Result>,
): Promise<Result> {
  const database = await openUnlocked(host)
  try {
    const onStep = (step: string) => host.err(`${step}\n`)
    const onProgress = (rows: number) => host.err(`${rows} rows\n`)
    return await work({ ...(await host.open({ configs: [] })), database, onStep, onProgress, signal: host.signal })
  } finally {
    await database.close()
  }
}

/** Replaces the hint of a locked database by one for database commands. */
async function openUnlocked(host: CliHost): ReturnType<CliHost['openDatabase']> {
  try {
    return await host.openDatabase()
  } catch (thrown) {
    if (!(thrown instanceof TooldexError) || thrown.code !== 'DATABASE_LOCKED') throw thrown
    throw new TooldexError('DATABASE_LOCKED', thrown.message, { hint: lockedHint, cause: thrown })
  }
}

const lockedHint =
  'Stop that process, run this command, and start it again. Commands that work while a server runs: tooldex db backup, tooldex apply, tooldex tools import.'

/** Writes the database of a server to a file; without a server name, of the local server if it has the database locked. */
async function downloadDump(
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
  const body = await sendOperation(remote, backupDatabase, {}, { signal }, async (response) => response.body)
  const chunks = (body ?? new ReadableStream()) as unknown as AsyncIterable<Uint8Array>
  return saveDump(file, chunks, (lines) => host.err(`${lines} rows\n`))
}

const isLocked = (thrown: unknown): thrown is TooldexError =>
  thrown instanceof TooldexError && thrown.code === 'DATABASE_LOCKED'

const withoutKey = ({ message }: TooldexError, url: string) =>
  new TooldexError('DATABASE_LOCKED', message, {
    hint: `Set TOOLDEX_API_KEY to an admin key to download the file from the server at ${url}.`,
  })
