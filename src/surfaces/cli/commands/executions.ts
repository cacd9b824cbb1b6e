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
import { definedOptions, printOperation, type RegistryFlags, withRegistryOptions } from './registry/registry-command.ts'

/** `tooldex executions`: recorded, running and queued calls. */
export const addExecutions: AddCommand = (program, host, exit) => {
  const executions = program.command('executions')
  addList(executions, host)
  addGet(executions, host)
  addDecisions(executions, host)
  addResult(executions, host)
  addTail(executions, host, exit)
  withRegistryOptions(executions.command('queue').description('show the queue and its workers')).action(
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
    .description('list runs, newest first')
    .option('--tool <name>', 'only runs of this tool')
    .option('--status <status>', `only runs in this state (${ExecutionStatus.options.join(', ')})`, collect)
    .option('--caller <id>', 'only runs of this authenticated caller')
    .option('--caller-label <label>', 'only runs whose call had this label as its callerId')
    .option('--trace <id>', 'only runs of this trace')
    .option('--since <time>', 'only runs recorded at or after this time, such as 2026-01-31T12:00:00Z')
    .option('--until <time>', 'only runs recorded before this time, such as 2026-01-31T12:00:00Z')
    .addOption(new Option('--sort <field>', 'sort order').choices(executionSorts))
    .option('--limit <number>', 'maximum number of results', parseCount)
    .option('--cursor <cursor>', 'cursor of the next page')
  withRegistryOptions(command).action(({ server, json, ...filters }: RegistryFlags & Record<string, unknown>) =>
    printOperation(host, { server, json } as RegistryFlags, {
      operation: listExecutions,
      input: definedOptions(filters),
      text: ({ items, nextCursor }) =>
        `${listText(items, host.columns)}${nextCursor === undefined ? '' : `more: --cursor ${nextCursor}\n`}`,
    }),
  )
}

function addGet(parent: Command, host: CliHost): void {
  withRegistryOptions(
    parent.command('get').description('show one run with input, output and logs').argument('<id>'),
  ).action((id: string, flags: RegistryFlags) =>
    printOperation(host, flags, { operation: getExecution, input: { id }, text: executionText }),
  )
}

function addDecisions(parent: Command, host: CliHost): void {
  const stateText = ({
    id,
    status,
    errorMessage,
  }: {
    id: string
    status: string
    errorMessage: string | null
  }): string => `${id} is ${status}${errorMessage === null ? '' : `: ${errorMessage}`}\n`
  const cancel = parent.command('cancel').description('cancel a queued or running call').argument('<id>')
  withRegistryOptions(cancel).action((id: string, flags: RegistryFlags) =>
    printOperation(host, flags, { operation: cancelExecution, input: { id }, text: stateText }),
  )
  for (const [name, operation, about] of [
    ['approve', approveExecution, 'approve a call that waits for approval'],
    ['refuse', refuseExecution, 'refuse a call that waits for approval'],
  ] as const) {
    const command = parent
      .command(name)
      .description(about)
      .argument('<id>')
      .option('--note <text>', 'reason of the decision')
    withRegistryOptions(command).action((id: string, { note, ...flags }: RegistryFlags & { note?: string }) =>
      printOperation(host, flags, { operation, input: definedOptions({ id, note }), text: stateText }),
    )
  }
}

function addResult(parent: Command, host: CliHost): void {
  const command = parent
    .command('result')
    .description('read a large output by its handle')
    .argument('<handle>')
    .option('--offset <number>', 'index of the first line or value, from 0', parseLimit)
    .option('--limit <number>', 'maximum number of results', parseCount)
    .option('--grep <pattern>', 'only lines that match this pattern')
    .option('--path <jsonpath>', 'only values that this JSONPath selects')
  withRegistryOptions(command).action(
    (handle: string, { server, json, ...query }: RegistryFlags & Record<string, unknown>) =>
      printOperation(host, { server, json } as RegistryFlags, {
        operation: readStoredResult,
        input: definedOptions({ handle, ...query }),
        text: resultText,
      }),
  )
}
