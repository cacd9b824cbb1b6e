import type { Command } from 'commander'
import type * as z from 'zod'
import { toOneLine } from '../../../../base/invisible-characters.ts'
import { splitLines, writeDumpLines } from '../../../../operations/database/dump-file.ts'
import { invoke } from '../../../../operations/invoke.ts'
import {
  exportAudit,
  listAudit,
  toVerification,
  verifyAudit,
  verifyAuditFile,
  verifyAuditLine,
} from '../../../../operations/registry/audit.ts'
import { ChainVerifier } from '../../../../rules/audit-chain.ts'
import type { CliHost } from '../../host.ts'
import { type AddCommand, parseInteger, toJson } from '../command.ts'
import { operationCommands, tableText } from '../operation-command.ts'
import { definedOptions, type RegistryFlags, withRegistry, withRegistryOptions } from './registry-command.ts'

interface AuditFlags extends RegistryFlags {
  readonly head?: string
  readonly after?: number
  readonly file?: string
}

type Exit = Parameters<AddCommand>[2]

/** `tooldex audit`: the log of changes. */
export const addAudit: AddCommand = (program, host, exit) => {
  operationCommands(
    program,
    host,
  )({
    line: 'audit',
    operation: listAudit,
    options: ['--subject <subject>', '--limit <n>', '--cursor <cursor>'],
    text: tableText(
      {
        Row: ({ sequence }) => sequence ?? 'none',
        Time: ({ at }) => at,
        Actor: ({ actor }) => actor,
        Action: ({ action }) => action,
        Subject: ({ subject }) => subject,
      },
      'No changes are recorded yet.',
      'No recorded change matches.',
    ),
  })
  const audit = program.commands.find((command) => command.name() === 'audit') as Command
  addVerify(audit, host, exit)
  addExport(audit, host, exit)
}

function addVerify(audit: Command, host: CliHost, exit: Exit): void {
  const command = audit
    .command('verify')
    .description('report the first row that was changed, removed or inserted; exit code 1 if there is one')
    .option('--head <hash>', 'a head that was noted earlier and must still be in the log')
    .option('--file <file>', 'verify this export, without a registry')
  withAfter(command)
  withRegistryOptions(command).action(async ({ file, head, after, server, json }: AuditFlags) => {
    const input = definedOptions({ head, after })
    const answer = await (file === undefined
      ? withRegistry(host, { ...(server === undefined ? {} : { server }) }, (registry) =>
          registry.invoke(verifyAudit, input),
        )
      : invoke(verifyAuditFile, { file, ...input }, await host.open({ configs: [] })))
    host.out(json ? toJson(answer) : verificationText(answer))
    if (!answer.intact) exit(1)
  })
}

function addExport(audit: Command, host: CliHost, exit: Exit): void {
  const command = audit
    .command('export')
    .description('write the audit log as JSON lines, oldest first, and verify what is written')
    .argument('[file]', 'output file, compressed if its name ends in .gz (default: standard output)')
  withAfter(command)
  withRegistryOptions(command).action(async (file: string | undefined, { after, server, json }: AuditFlags) => {
    const verifier = new ChainVerifier({ after })
    await withRegistry(host, { ...(server === undefined ? {} : { server }) }, async (registry) => {
      const stream = await registry.invoke(exportAudit, definedOptions({ after }), { signal: host.signal })
      const lines = verified(splitLines(stream as unknown as AsyncIterable<Uint8Array>), verifier)
      if (file === undefined || file === '-') return host.outAll(withLineEnds(lines))
      await writeDumpLines(file, async (write) => {
        for await (const line of lines) await write(line)
      })
    })
    const answer = toVerification(verifier)
    // Standard output has the rows.
    const print = file === undefined || file === '-' ? host.err : host.out
    print(json ? toJson(answer) : verificationText(answer))
    if (!answer.intact) exit(1)
  })
}

const withAfter = (command: Command): Command =>
  command.option('--after <row>', 'start after the row with this number', parseInteger(0))

async function* verified(lines: AsyncIterable<string>, verifier: ChainVerifier): AsyncGenerator<string> {
  for await (const line of lines) {
    verifyAuditLine(verifier, line)
    yield line
  }
}

async function* withLineEnds(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`
}

function verificationText({ intact, rows, head, firstBreak }: z.output<typeof verifyAudit.output>): string {
  const end = head === null ? '' : ` Head: row ${head.sequence}, ${head.hash}`
  if (intact) return `${rows} row(s), all intact.${end}\n`
  const { message = '', row = null } = firstBreak ?? {}
  const found = row === null ? '' : `\nFound there: ${row.at} ${toOneLine(`${row.actor} ${row.action} ${row.subject}`)}`
  return `BROKEN: ${message}${found}\n${rows} row(s) before it are intact.${end}\n`
}
