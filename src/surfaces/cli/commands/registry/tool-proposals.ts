import type { Command } from 'commander'
import * as proposals from '../../../../operations/registry/proposals.ts'
import { formatTable } from '../../format-table.ts'
import type { CliHost } from '../../host.ts'
import { proposalText, replayText } from '../../replay-text.ts'
import { parseCount } from '../command.ts'
import { definedOptions, printOperation, type RegistryFlags, withRegistryOptions } from './registry-command.ts'
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
    .description('propose a change by a YAML or JSON file (- for standard input), without applying it')
    .option('--reason <text>', 'reason of the proposal')
    .option('--changelog <text>', 'changelog of the new version')
    .option('--script <file>', 'file with the script of the tool')
  withRegistryOptions(propose).action((idOrName: string, file: string, flags: ProposeFlags) =>
    writeTool(host, flags, {
      file,
      operation: proposals.proposeChange,
      input: (change) => ({
        idOrName,
        change,
        ...definedOptions({ reason: flags.reason, changelog: flags.changelog }),
      }),
      text: ({ id, diff }) => `proposal ${id}: ${diff?.class ?? 'none'}, ${diff?.fields.length ?? 0} field(s)\n`,
    }),
  )
  const list = group
    .command('proposals <tool>')
    .description('list the proposals for a tool, newest first')
    .option('--limit <n>', 'maximum number of results', parseCount)
    .option('--cursor <cursor>', 'cursor of the next page')
  withRegistryOptions(list).action(
    (idOrName: string, { limit, cursor, ...flags }: RegistryFlags & { limit?: number; cursor?: string }) =>
      printOperation(host, flags, {
        operation: proposals.listProposals,
        input: { idOrName, ...definedOptions({ limit, cursor }) },
        text({ items }) {
          if (items.length === 0) return 'No proposals.\n'
          const rows = items.map((each) => [
            each.id,
            each.status,
            Object.keys(each.change).join(', '),
            each.reason ?? '',
          ])
          return `${formatTable(['Proposal', 'Status', 'Fields', 'Reason'], rows, host.columns)}\n`
        },
      }),
  )
  addReplay(group, host)
  addDecisions(group, host)
}

function addReplay(group: Command, host: CliHost): void {
  const one = group.command('proposal <proposal>').description('show a proposal and the result of its last replay')
  withRegistryOptions(one).action((id: string, flags: RegistryFlags) =>
    printOperation(host, flags, { operation: proposals.getProposal, input: { id }, text: proposalText }),
  )
  const replay = group
    .command('replay <proposal>')
    .description('run recorded inputs of a read-only tool against a proposal and show the differences')
    .option('--limit <n>', 'maximum number of inputs, newest first', parseCount)
  withRegistryOptions(replay).action((id: string, { limit, ...flags }: RegistryFlags & { limit?: number }) =>
    printOperation(host, flags, {
      operation: proposals.replayProposal,
      input: { id, ...definedOptions({ limit }) },
      text: replayText,
    }),
  )
}

function addDecisions(group: Command, host: CliHost): void {
  const accept = group.command('accept <proposal>').description('accept a proposal as the next version')
  accept.option('--expected-version <n>', 'fail unless the tool still has this version', parseCount)
  withRegistryOptions(accept.option('--note <text>', 'reason of the decision')).action(
    (id: string, { note, expectedVersion, ...flags }: RegistryFlags & { note?: string; expectedVersion?: number }) =>
      printOperation(host, flags, {
        operation: proposals.acceptProposal,
        input: { id, ...definedOptions({ note, expectedVersion }) },
        text: ({ tool }) => `Accepted: ${tool.name} has version ${tool.version}.\n`,
      }),
  )
  const refuse = group.command('refuse <proposal>').description('refuse a proposal; it stays readable')
  withRegistryOptions(refuse.option('--note <text>', 'reason of the decision')).action(
    (id: string, { note, ...flags }: RegistryFlags & { note?: string }) =>
      printOperation(host, flags, {
        operation: proposals.refuseProposal,
        input: { id, ...definedOptions({ note }) },
        text: () => 'Refused.\n',
      }),
  )
}
