import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { TooldexError } from '../../../base/errors.ts'
import type { Execution, ExecutionSummary } from '../../../contract/execution.ts'
import { answerOfExecution } from '../../../operations/runs/execution-result.ts'
import * as executions from '../../../operations/runs/executions.ts'
import { getExecution, listExecutions } from '../../../operations/runs/executions.ts'
import { readStoredResult } from '../../../operations/runs/results.ts'
import { readRunStatistics } from '../../../operations/runs/run-statistics.ts'
import { runCodeName } from '../../../rules/builtin-names.ts'
import { isFinal } from '../../../rules/is-final.ts'
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
import type { CliHost, RegistryClient } from '../host.ts'
import { type PrintedOutput, printResult, waitingText } from './call-output.ts'
import { type AddCommand, parseCount } from './command.ts'
import { operationCommands, tableText } from './operation-command.ts'
import { definedOptions, type RegistryFlags, withRegistry, withRegistryOptions } from './registry/registry-command.ts'

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

interface TailFlags extends RegistryFlags {
  readonly follow?: boolean
  readonly lines?: number
  readonly tool?: string
}

const pollIntervalMs = 1000

/** `tooldex executions tail [ID]`: the latest and new runs, or the output of one run. */
function addTail(parent: Command, host: CliHost, exit: (code: number) => void): void {
  const command = parent
    .command('tail')
    .description('show the latest runs, oldest first; with an id, follow the output of that run')
    .argument('[id]')
    .option('-f, --follow', 'print new runs and changes of state')
    .option('-n, --lines <number>', 'number of runs to start with', parseCount)
    .option('--tool <name>', 'only runs of this tool')
  withRegistryOptions(command).action((id: string | undefined, flags: TailFlags) =>
    withRegistry(host, flags, async (registry) => {
      if (id === undefined) await tailAll(host, registry, flags)
      else exit(await tailOne(host, registry, id, flags.json))
    }),
  )
}

/** Prints one run until it ends; returns the exit code of a call. */
async function tailOne(host: CliHost, registry: RegistryClient, id: string, json = false): Promise<number> {
  const shown: PrintedOutput = { stdout: '', stderr: '' }
  for await (const event of registry.follow(id)) {
    // One line per event, for programs that read a stream.
    if (json) host.out(`${JSON.stringify(event)}\n`)
    if (event.event === 'status' && event.execution.reason === 'approval' && !json)
      host.err(waitingText({ executionId: id, expiresAt: event.execution.expiresAt }))
    if (event.event === 'output' && !json) {
      shown[event.stream] += event.text
      if (event.stream === 'stdout') host.out(event.text)
      else host.err(event.text)
    }
    if (event.event !== 'end') continue
    const answer = { tool: event.execution.toolName, ...answerOfExecution(event.execution) }
    return printResult(json ? { ...host, out: () => {}, err: () => {} } : host, answer, { json: false, shown })
  }
  return 130
}

async function tailAll(host: CliHost, registry: RegistryClient, flags: TailFlags): Promise<void> {
  const { json, follow = false, lines = 10, tool } = flags
  const show = (runs: readonly ExecutionSummary[]) => {
    for (const run of runs) host.out(json ? `${JSON.stringify(run)}\n` : lineOf(run))
  }
  const list = (query: Record<string, unknown>) => registry.invoke(listExecutions, definedOptions({ tool, ...query }))
  const { items } = await list({ limit: Math.min(lines, 100) })
  show([...items].reverse())
  if (items.length === 0 && !json) host.err('No runs are recorded yet. Call a tool with: tooldex call TOOL\n')
  if (!follow) return
  const seen = new NewRuns(items)
  let isUnavailable = false
  while (!host.signal.aborted) {
    await sleep(pollIntervalMs, undefined, { signal: host.signal }).catch(() => {})
    if (host.signal.aborted) return
    try {
      const runs = await seen.poll({ list, get: (id) => registry.invoke(getExecution, { id }) })
      if (isUnavailable) host.err('The server is available again.\n')
      isUnavailable = false
      show(runs)
    } catch (thrown) {
      // Temporary outages are retried.
      if (!(thrown instanceof TooldexError) || thrown.code !== 'UNAVAILABLE') throw thrown
      if (!isUnavailable) host.err(`${thrown.message} Retrying every second; stop with Ctrl+C.\n`)
      isUnavailable = true
    }
  }
}

function lineOf(run: ExecutionSummary): string {
  const end = [tookText(run.durationMs), run.errorCode ?? ''].filter((part) => part !== '').join(' ')
  const caller = run.callerId ?? ''
  return `${timeOf(run.updatedAt)}  ${run.id}  ${stateOf(run).padEnd(9)}  ${toolOf(run)}  ${[caller, end].filter(Boolean).join('  ')}\n`
}

interface RunPage {
  readonly items: readonly ExecutionSummary[]
  readonly nextCursor?: string | undefined
}

/** The queries for runs. */
interface RunQueries {
  readonly list: (query: { since?: string; limit: number; cursor?: string | undefined }) => Promise<RunPage>
  readonly get: (id: string) => Promise<ExecutionSummary>
}

const pageSize = 100
const limits = { pages: 20, open: 50 }

/** Detects new runs and changed states by polling. */
class NewRuns {
  /** The last printed state of the unfinished runs and of the newest. */
  readonly #lastStates = new Map<string, ExecutionSummary>()
  #newest = ''

  constructor(printed: readonly ExecutionSummary[]) {
    for (const run of printed) this.#record(run)
  }

  /** Returns the runs that changed since the last poll, oldest first. */
  async poll({ list, get }: RunQueries): Promise<readonly ExecutionSummary[]> {
    const found = await this.#listNew(list)
    const seen = new Set(found.map(({ id }) => id))
    const open = [...this.#lastStates.values()].filter(({ id, status }) => !isFinal(status) && !seen.has(id))
    for (const { id } of open.slice(0, limits.open)) found.push(await get(id))
    const changed = found.filter((run) => !isSame(run, this.#lastStates.get(run.id)))
    for (const run of changed) this.#record(run)
    for (const { id, status, createdAt } of this.#lastStates.values())
      if (isFinal(status) && createdAt < this.#newest) this.#lastStates.delete(id)
    return changed.sort((a, b) => (a.updatedAt < b.updatedAt ? -1 : 1))
  }

  async #listNew(list: RunQueries['list']): Promise<ExecutionSummary[]> {
    const found: ExecutionSummary[] = []
    let cursor: string | undefined
    for (let page = 0; page < limits.pages; page++) {
      const since = this.#newest === '' ? {} : { since: this.#newest }
      const { items, nextCursor } = await list({ limit: pageSize, cursor, ...since })
      found.push(...items)
      if (nextCursor === undefined) break
      cursor = nextCursor
    }
    return found
  }

  #record(run: ExecutionSummary): void {
    this.#lastStates.set(run.id, run)
    if (run.createdAt > this.#newest) this.#newest = run.createdAt
  }
}

const isSame = (run: ExecutionSummary, last: ExecutionSummary | undefined): boolean =>
  last !== undefined && last.status === run.status && last.reason === run.reason
