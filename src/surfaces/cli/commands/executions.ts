import type { Execution, ExecutionSummary } from '../../../contract/execution.ts'
import * as executions from '../../../operations/runs/executions.ts'
import { readStoredResult } from '../../../operations/runs/results.ts'
import { readRunStatistics } from '../../../operations/runs/run-statistics.ts'
import { runCodeName } from '../../../rules/builtin-names.ts'
import {
  executionText,
  queueText,
  resultText,
  stateOf,
  statisticsText,
  timeOf,
  tookText,
  toolOf,
} from '../execution-text.ts'
import type { RegistryClient } from '../host.ts'
import type { AddCommand } from './command.ts'
import { addTail } from './execution-tail.ts'
import { operationCommands, tableText } from './operation-command.ts'

/** The calls of a program, oldest first; other runs have none. */
async function readChildren({ id, toolName }: Execution, registry: RegistryClient): Promise<ExecutionSummary[]> {
  if (toolName !== runCodeName) return []
  const { items } = await registry.invoke(executions.listExecutions, { parent: id, sort: 'createdAt', limit: 100 })
  return items
}

interface RunState {
  readonly id: string
  readonly status: string
  readonly errorMessage: string | null
}

const stateText = ({ id, status, errorMessage }: RunState): string =>
  `${id} is ${status}${errorMessage === null ? '' : `: ${errorMessage}`}\n`

/** `tooldex executions`: recorded, running and queued calls. */
export const addExecutions: AddCommand = (program, host, exit) => {
  const group = program.command('executions')
  const add = operationCommands(group, host)
  add({
    line: 'list',
    operation: executions.listExecutions,
    options: [
      '--tool <name>',
      '--status <status>',
      '--caller <id>',
      '--caller-label <label>',
      '--trace <id>',
      '--parent <id>',
      '--since <time>',
      '--until <time>',
      '--sort <field>',
      '--limit <number>',
      '--cursor <cursor>',
    ],
    text: tableText(
      {
        Execution: (run) => run.id,
        'When (UTC)': (run) => timeOf(run.createdAt),
        Tool: toolOf,
        State: stateOf,
        Took: (run) => tookText(run.durationMs),
        Caller: (run) => run.callerId,
        Error: (run) => run.errorCode,
      },
      'No runs are recorded yet. Call a tool with: tooldex call TOOL',
      'No recorded run matches.',
    ),
  })
  add({
    line: 'get <id>',
    operation: executions.getExecution,
    complete: async (run, registry) => ({ ...run, children: await readChildren(run, registry) }),
    text: (run, { columns }) => executionText(run, columns),
  })
  add({ line: 'cancel <id>', operation: executions.cancelExecution, text: stateText })
  const options = ['--note <text>']
  add({ line: 'approve <id>', operation: executions.approveExecution, options, text: stateText })
  add({ line: 'refuse <id>', operation: executions.refuseExecution, options, text: stateText })
  add({
    line: 'result <handle>',
    operation: readStoredResult,
    options: ['--offset <number>', '--limit <number>', '--grep <pattern>', '--path <jsonpath>'],
    text: resultText,
  })
  addTail(group, host, exit)
  add({
    line: 'stats',
    operation: readRunStatistics,
    options: ['--tool <name>', '--hours <number>'],
    text: (statistics, { columns }) => statisticsText(statistics, columns),
  })
  add({ line: 'queue', operation: executions.readQueue, text: (state, { columns }) => queueText(state, columns) })
}
