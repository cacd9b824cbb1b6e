import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { TooldexError } from '../../../base/errors.ts'
import { databaseStatus, migrateDatabase } from '../../../operations/database/database-status.ts'
import { backupDatabase, exportDatabase, importDatabase } from '../../../operations/database/dump-database.ts'
import { type SavedDump, saveDump } from '../../../operations/database/dump-file.ts'
import { invoke } from '../../../operations/invoke.ts'
import type { ProcessContext } from '../../../operations/operation.ts'
import { type RemoteServer, requestRemote } from '../../../operations/registry-client/remote-client.ts'
import { formatTable } from '../format-table.ts'
import type { CliHost } from '../host.ts'
import { type AddCommand, toJson } from './command.ts'

interface Flags {
  readonly server?: string
  readonly json?: boolean
  readonly replace?: boolean
}

/** `tooldex db`: database administration. */
export const addDb: AddCommand = (program, host) => {
  const db = program.command('db')
  addMigrate(db, host)
  addStatus(db, host)
  addWriting(db, host, 'backup', 'write the whole database to a file, without stopping the server')
  addReading(db, host, 'restore', 'replace the content of the database by a backup', true)
  addWriting(db, host, 'export', 'write the whole database to a file that any engine can import')
  addReading(db, host, 'import', 'import an exported file into an empty database', false)
}

function addMigrate(db: Command, host: CliHost): void {
  withJson(db.command('migrate').description('apply pending migrations')).action(async (flags: Flags) => {
    const answer = await withDatabase(host, (context) => invoke(migrateDatabase, {}, context))
    if (flags.json) return host.out(toJson(answer))
    host.out(answer.steps.length === 0 ? `${answer.name} is up to date.\n` : `${answer.name} is now up to date.\n`)
  })
}

function addStatus(db: Command, host: CliHost): void {
  withJson(db.command('status').description('show migration status and row counts')).action(async (flags: Flags) => {
    const answer = await withDatabase(host, (context) => invoke(databaseStatus, {}, context))
    if (flags.json) return host.out(toJson(answer))
    const { name, engine, applied, pending, olderShape, rows } = answer
    host.out(`${name} (${engine}): ${applied.length} migrations applied, ${pending.length} pending\n`)
    if (olderShape) host.out('It has tables of the first data model; convert them with: tooldex db migrate\n')
    for (const step of pending) host.out(`  pending: ${step}\n`)
    const cells = Object.entries(rows ?? {}).map(([table, count]) => [table, String(count)])
    if (cells.length > 0) host.out(`${formatTable(['Table', 'Rows'], cells, host.columns)}\n`)
  })
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

function addReading(db: Command, host: CliHost, name: string, text: string, always: boolean): void {
  const command = db.command(name).description(text).argument('<file>', 'file written by db backup or db export')
  if (!always) command.option('--replace', 'delete the current content of the database')
  withJson(command).action(async (file: string, flags: Flags) => {
    if (file === '-') throw new TooldexError('USAGE', `db ${name} cannot read standard input.`, { hint: twiceHint })
    const input = { file, replace: always || flags.replace === true }
    const answer = await withDatabase(host, (context) => invoke(importDatabase, input, context))
    host.out(flags.json ? toJson(answer) : `${total(answer.rows)} rows read from ${answer.file}\n`)
  })
}

const twiceHint =
  'Save it to a file first: the file is read twice, so that a damaged one is rejected before any change.'

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
