import { type Command, Option } from 'commander'
import { ExecutionStatus, executionSorts } from '../../../contract/execution.ts'
import {
  approveExecution,
  cancelExecution,
  getExecution,
  listExecutions,
  readQueue,
  refuseExecution,
} from '../../../operations/runs/executions.ts'
import { readStoredResult } from '../../../operations/runs/results.ts'
import { executionText, listText, queueText, resultText } from '../execution-text.ts'
import type { CliHost } from '../host.ts'
import { type AddCommand, collect, parseCount, parseLimit } from './command.ts'
import { addTail } from './execution-tail.ts'
import { given, printOperation, type RegistryFlags, withRegistryOptions } from './registry/registry-command.ts'

/** `tooldex executions`: what ran, what runs, what waits. */
export const addExecutions: AddCommand = (program, host, exit) => {
  const executions = program.command('executions')
  addList(executions, host)
  addGet(executions, host)
  addDecisions(executions, host)
  addResult(executions, host)
  addTail(executions, host, exit)
  withRegistryOptions(executions.command('queue').description('what waits and who runs what')).action(
    (flags: RegistryFlags) =>
      printOperation(host, flags, {
        operation: readQueue,
        input: {},
        text: (state) => queueText(state, host.columns),
      }),
  )
}

function addList(parent: Command, host: CliHost): void {
  const command = parent
    .command('list')
    .description('runs, newest first')
    .option('--tool <name>', 'only of this tool')
    .option('--status <status>', `only in this state (${ExecutionStatus.options.join(', ')})`, collect)
    .option('--caller <id>', 'only of this authenticated caller')
    .option('--caller-label <label>', 'only of calls that gave this label as their callerId')
    .option('--trace <id>', 'only of this trace')
    .option('--since <time>', 'only recorded at this time or later, such as 2026-01-31T12:00:00Z')
    .option('--until <time>', 'only recorded before this time, such as 2026-01-31T12:00:00Z')
    .addOption(new Option('--sort <field>', 'in this order').choices(executionSorts))
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

function addGet(parent: Command, host: CliHost): void {
  withRegistryOptions(
    parent.command('get').description('one run, with input, output and logs').argument('<id>'),
  ).action((id: string, flags: RegistryFlags) =>
    printOperation(host, flags, { operation: getExecution, input: { id }, text: executionText }),
  )
}

function addDecisions(parent: Command, host: CliHost): void {
  const said = ({ id, status, errorMessage }: { id: string; status: string; errorMessage: string | null }): string =>
    `${id} is ${status}${errorMessage === null ? '' : `: ${errorMessage}`}\n`
  const cancel = parent.command('cancel').description('end a run that waits or runs').argument('<id>')
  withRegistryOptions(cancel).action((id: string, flags: RegistryFlags) =>
    printOperation(host, flags, { operation: cancelExecution, input: { id }, text: said }),
  )
  for (const [name, operation, about] of [
    ['approve', approveExecution, "say yes to a call that waits for a person's yes"],
    ['refuse', refuseExecution, 'say no to it'],
  ] as const) {
    const command = parent.command(name).description(about).argument('<id>').option('--note <text>', 'why')
    withRegistryOptions(command).action((id: string, { note, ...flags }: RegistryFlags & { note?: string }) =>
      printOperation(host, flags, { operation, input: given({ id, note }), text: said }),
    )
  }
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
        text: resultText,
      }),
  )
}
