import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { TooldexError } from '../../../base/errors.ts'
import { databaseStatus } from '../../../operations/database/database-status.ts'
import { exportDatabase } from '../../../operations/database/export-database.ts'
import { importDatabase } from '../../../operations/database/import-database.ts'
import { migrateDatabase } from '../../../operations/database/migrate-database.ts'
import type { SavedDump } from '../../../operations/database/save-dump.ts'
import { invoke } from '../../../operations/invoke.ts'
import type { OperationContext } from '../../../operations/operation.ts'
import { downloadDump } from '../download-dump.ts'
import { formatTable } from '../format-table.ts'
import type { CliHost } from '../host.ts'
import { type AddCommand, toJson } from './command.ts'

interface Flags {
  readonly server?: string
  readonly json?: boolean
  readonly replace?: boolean
}

/** `tooldex db`: looking after the database. */
export const addDb: AddCommand = (program, host) => {
  const db = program.command('db')
  addMigrate(db, host)
  addStatus(db, host)
  addWriting(db, host, 'backup', 'write the whole database to a file, while others go on working')
  addReading(db, host, 'restore', 'put a backup in the place of what is in the database', true)
  addWriting(db, host, 'export', 'write everything to a file that every engine reads')
  addReading(db, host, 'import', 'read an exported file into an empty database', false)
}

function addMigrate(db: Command, host: CliHost): void {
  withJson(db.command('migrate').description('bring the database up to date')).action(async (flags: Flags) => {
    const answer = await withDatabase(host, (context) => invoke(migrateDatabase, {}, context))
    if (flags.json) return host.out(toJson(answer))
    host.out(answer.steps.length === 0 ? `${answer.name} is up to date.\n` : `${answer.name} is now up to date.\n`)
  })
}

function addStatus(db: Command, host: CliHost): void {
  withJson(db.command('status').description('say how far the database is and what is in it')).action(
    async (flags: Flags) => {
      const answer = await withDatabase(host, (context) => invoke(databaseStatus, {}, context))
      if (flags.json) return host.out(toJson(answer))
      const { name, engine, applied, pending, olderShape, rows } = answer
      host.out(`${name} (${engine}): ${applied.length} migrations applied, ${pending.length} to do\n`)
      if (olderShape) host.out('It has tables of the older shape, which db migrate brings over.\n')
      for (const step of pending) host.out(`  to do: ${step}\n`)
      const cells = Object.entries(rows ?? {}).map(([table, count]) => [table, String(count)])
      if (cells.length > 0) host.out(`${formatTable(['Table', 'Rows'], cells, host.columns)}\n`)
    },
  )
}

function addWriting(db: Command, host: CliHost, name: string, text: string): void {
  const command = db
    .command(name)
    .description(text)
    .argument('<file>', 'the file, gzip where its name ends in .gz; - for standard output')
    .option('--server <url>', 'the database of this server; one that runs here is asked where it has it open')
  withJson(command).action(async (file: string, flags: Flags) => {
    if (file === '-') return writeOut(host, flags)
    const answer = await writeFile(host, file, flags)
    host.out(flags.json ? toJson(answer) : `${total(answer.rows)} rows written to ${answer.file}\n`)
  })
}

function writeFile(host: CliHost, file: string, { server }: Flags): Promise<SavedDump> {
  const here = () => withDatabase(host, (context) => invoke(exportDatabase, { file }, context))
  return downloadDump(host, { file, server }, here)
}

/** Through a file, so that nothing is printed of what cannot be written whole; the words about it go to stderr. */
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
  const command = db.command(name).description(text).argument('<file>', 'a file that db backup or db export wrote')
  if (!always) command.option('--replace', 'lose what is in the database')
  withJson(command).action(async (file: string, flags: Flags) => {
    if (file === '-') throw new TooldexError('USAGE', `db ${name} cannot read standard input.`, { hint: twiceHint })
    const input = { file, replace: always || flags.replace === true }
    const answer = await withDatabase(host, (context) => invoke(importDatabase, input, context))
    host.out(flags.json ? toJson(answer) : `${total(answer.rows)} rows read from ${answer.file}\n`)
  })
}

const twiceHint =
  'Write it to a file first: the file is read twice, so that a damaged one is refused before anything is changed.'

const withJson = (command: Command): Command => command.option('--json', 'print JSON for programs')
const total = (rows: Readonly<Record<string, number>>): number => Object.values(rows).reduce((sum, n) => sum + n, 0)

/** Opens the database for one command and closes it whatever happens; what goes on is said on stderr. */
async function withDatabase<Result>(
  host: CliHost,
  work: (context: OperationContext) => Promise<Result>,
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

/** A database that a server has open cannot be changed under it; what to do is not the same as for a tool. */
async function openUnlocked(host: CliHost): ReturnType<CliHost['openDatabase']> {
  try {
    return await host.openDatabase()
  } catch (thrown) {
    if (!(thrown instanceof TooldexError) || thrown.code !== 'DATABASE_LOCKED') throw thrown
    throw new TooldexError('DATABASE_LOCKED', thrown.message, { hint: lockedHint, cause: thrown })
  }
}

const lockedHint =
  'Stop that process, run this, and start it again. While a server runs: tooldex db backup, tooldex apply, tooldex tools import.'
