import type { Command } from 'commander'
import { ExecutionStatus, type ExecutionSummary } from '../../../contract/execution.ts'
import {
  approveExecution,
  cancelExecution,
  getExecution,
  listExecutions,
  readQueue,
  refuseExecution,
} from '../../../operations/runs/executions.ts'
import { readStoredResult } from '../../../operations/runs/results.ts'
import { formatTable } from '../format-table.ts'
import type { CliHost } from '../host.ts'
import { type AddCommand, collect, parseCount, parseLimit, toJson } from './command.ts'
import { given, printOperation, type RegistryFlags, withRegistryOptions } from './registry-command.ts'

/** `tooldex executions`: what ran, what runs, what waits. */
export const addExecutions: AddCommand = (program, host) => {
  const executions = program.command('executions').description('recorded runs: list, read, follow, cancel, approve')
  addList(executions, host)
  addGet(executions, host)
  addDecisions(executions, host)
  addResult(executions, host)
  withRegistryOptions(executions.command('queue').description('what waits and who runs what')).action(
    (flags: RegistryFlags) =>
      printOperation(host, flags, { operation: readQueue, input: {}, text: (state) => toJson(state) }),
  )
}

function addList(parent: Command, host: CliHost): void {
  const command = parent
    .command('list')
    .description('runs, newest first')
    .option('--tool <name>', 'only of this tool')
    .option('--status <status>', `only in this state (${ExecutionStatus.options.join(', ')})`, collect)
    .option('--caller <id>', 'only of this caller')
    .option('--trace <id>', 'only of this trace')
    .option('--since <time>', 'only recorded at this time or later')
    .option('--until <time>', 'only recorded before this time')
    .option('--limit <number>', 'how many', parseCount)
    .option('--cursor <cursor>', 'where the last page ended')
  withRegistryOptions(command).action(({ server, json, ...filters }: RegistryFlags & Record<string, unknown>) =>
    printOperation(host, { server, json } as RegistryFlags, {
      operation: listExecutions,
      input: given(filters),
      text: ({ items, nextCursor }) =>
        `${listText(items, host.columns)}${nextCursor === undefined ? '' : `more: --cursor ${nextCursor}\n`}`,
    }),
  )
}

function listText(items: readonly ExecutionSummary[], columns: number): string {
  if (items.length === 0) return 'No runs.\n'
  const rows = items.map((run) => [
    run.id,
    run.createdAt.slice(0, 19).replace('T', ' '),
    run.version === null ? run.toolName : `${run.toolName}@${run.version}`,
    run.reason === 'approval' ? 'PENDING (approval)' : run.status,
    run.durationMs === null ? '' : `${run.durationMs} ms`,
    run.errorCode ?? '',
  ])
  return formatTable(['id', 'when', 'tool', 'status', 'took', 'error'], rows, columns)
}

function addGet(parent: Command, host: CliHost): void {
  withRegistryOptions(
    parent.command('get').description('one run, with input, output and logs').argument('<id>'),
  ).action((id: string, flags: RegistryFlags) =>
    printOperation(host, flags, { operation: getExecution, input: { id }, text: (run) => toJson(run) }),
  )
}

function addDecisions(parent: Command, host: CliHost): void {
  const said = ({ id, status, errorMessage }: { id: string; status: string; errorMessage: string | null }): string =>
    `${id} is ${status}${errorMessage === null ? '' : `: ${errorMessage}`}\n`
  for (const [name, operation, about] of [
    ['cancel', cancelExecution, 'end a run that waits or runs'],
    ['approve', approveExecution, "say yes to a call that waits for a person's yes"],
  ] as const) {
    withRegistryOptions(parent.command(name).description(about).argument('<id>')).action(
      (id: string, flags: RegistryFlags) => printOperation(host, flags, { operation, input: { id }, text: said }),
    )
  }
  const refuse = parent.command('refuse').description('say no to it').argument('<id>').option('--note <text>', 'why')
  withRegistryOptions(refuse).action((id: string, { note, ...flags }: RegistryFlags & { note?: string }) =>
    printOperation(host, flags, { operation: refuseExecution, input: given({ id, note }), text: said }),
  )
}

function addResult(parent: Command, host: CliHost): void {
  const command = parent
    .command('result')
    .description('read a large output by its handle')
    .argument('<handle>')
    .option('--offset <number>', 'the first line or value, from 0', parseLimit)
    .option('--limit <number>', 'how many', parseCount)
    .option('--grep <pattern>', 'only lines in which this finds something')
    .option('--path <jsonpath>', 'only what this JSONPath finds')
  withRegistryOptions(command).action(
    (handle: string, { server, json, ...query }: RegistryFlags & Record<string, unknown>) =>
      printOperation(host, { server, json } as RegistryFlags, {
        operation: readStoredResult,
        input: given({ handle, ...query }),
        text: ({ items }) =>
          items.map((item) => `${typeof item === 'string' ? item : JSON.stringify(item)}\n`).join(''),
      }),
  )
}
