import type { Command } from 'commander'
import * as proposals from '../../../../operations/registry/proposals.ts'
import { formatTable } from '../../format-table.ts'
import type { CliHost } from '../../host.ts'
import { proposalText, replayText } from '../../replay-text.ts'
import { parseCount } from '../command.ts'
import { given, printOperation, type RegistryFlags, withRegistryOptions } from './registry-command.ts'
import { writeTool } from './tool-writing.ts'

interface ProposeFlags extends RegistryFlags {
  readonly reason?: string
  readonly changelog?: string
  readonly script?: string
}

/** `tooldex tools propose`, `proposals`, `accept` and `refuse`. */
export function addProposals(group: Command, host: CliHost): void {
  const propose = group
    .command('propose <tool> <file>')
    .description('propose the fields in a YAML or JSON file as a change, without making it (- for standard input)')
    .option('--reason <text>', 'why')
    .option('--changelog <text>', 'what the version is to say about it')
    .option('--script <file>', 'the script of the tool')
  withRegistryOptions(propose).action((idOrName: string, file: string, flags: ProposeFlags) =>
    writeTool(host, flags, {
      file,
      operation: proposals.proposeChange,
      input: (change) => ({ idOrName, change, ...given({ reason: flags.reason, changelog: flags.changelog }) }),
      text: ({ id, diff }) => `proposal ${id}: ${diff?.class ?? 'none'}, ${diff?.fields.length ?? 0} field(s)\n`,
    }),
  )
  const list = group
    .command('proposals <tool>')
    .description('list what was proposed for a tool, newest first')
    .option('--limit <n>', 'at most this many', parseCount)
    .option('--cursor <cursor>', 'go on where the last list ended')
  withRegistryOptions(list).action(
    (idOrName: string, { limit, cursor, ...flags }: RegistryFlags & { limit?: number; cursor?: string }) =>
      printOperation(host, flags, {
        operation: proposals.listProposals,
        input: { idOrName, ...given({ limit, cursor }) },
        text({ items }) {
          if (items.length === 0) return 'Nothing is proposed.\n'
          const rows = items.map((each) => [
            each.id,
            each.status,
            Object.keys(each.change).join(', '),
            each.reason ?? '',
          ])
          return `${formatTable(['Proposal', 'Status', 'Fields', 'Why'], rows, host.columns)}\n`
        },
      }),
  )
  addReplay(group, host)
  addDecisions(group, host)
}

function addReplay(group: Command, host: CliHost): void {
  const one = group
    .command('proposal <proposal>')
    .description('show a proposed change, and how recorded inputs did with it')
  withRegistryOptions(one).action((id: string, flags: RegistryFlags) =>
    printOperation(host, flags, { operation: proposals.getProposal, input: { id }, text: proposalText }),
  )
  const replay = group
    .command('replay <proposal>')
    .description('run recorded inputs of a read-only tool against a proposed change, and say what differs')
    .option('--limit <n>', 'at most this many inputs, the newest first', parseCount)
  withRegistryOptions(replay).action((id: string, { limit, ...flags }: RegistryFlags & { limit?: number }) =>
    printOperation(host, flags, {
      operation: proposals.replayProposal,
      input: { id, ...given({ limit }) },
      text: replayText,
    }),
  )
}

function addDecisions(group: Command, host: CliHost): void {
  const accept = group.command('accept <proposal>').description('put a proposed change in force as the next version')
  accept.option('--expected-version <n>', 'only if the tool still has this version', parseCount)
  withRegistryOptions(accept.option('--note <text>', 'why')).action(
    (id: string, { note, expectedVersion, ...flags }: RegistryFlags & { note?: string; expectedVersion?: number }) =>
      printOperation(host, flags, {
        operation: proposals.acceptProposal,
        input: { id, ...given({ note, expectedVersion }) },
        text: ({ tool }) => `Accepted: ${tool.name} has version ${tool.version}.\n`,
      }),
  )
  const refuse = group.command('refuse <proposal>').description('refuse a proposed change; it stays readable')
  withRegistryOptions(refuse.option('--note <text>', 'why')).action(
    (id: string, { note, ...flags }: RegistryFlags & { note?: string }) =>
      printOperation(host, flags, {
        operation: proposals.refuseProposal,
        input: { id, ...given({ note }) },
        text: () => 'Refused.\n',
      }),
  )
}
