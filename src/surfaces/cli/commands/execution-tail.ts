import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { TooldexError } from '../../../base/errors.ts'
import type { ExecutionSummary } from '../../../contract/execution.ts'
import { answerOf } from '../../../operations/runs/execution-result.ts'
import { getExecution, listExecutions } from '../../../operations/runs/executions.ts'
import { stateOf, timeOf, tookText, toolOf } from '../execution-text.ts'
import type { CliHost, RegistryClient } from '../host.ts'
import { NewRuns } from '../new-runs.ts'
import { printResult, type Shown, waitingText } from './call-output.ts'
import { parseCount } from './command.ts'
import { given, type RegistryFlags, withRegistry, withRegistryOptions } from './registry/registry-command.ts'

interface TailFlags extends RegistryFlags {
  readonly follow?: boolean
  readonly lines?: number
  readonly tool?: string
}

const pollIntervalMs = 1000

/** `tooldex executions tail [ID]`: the latest runs and those to come, or what one run prints. */
export function addTail(parent: Command, host: CliHost, exit: (code: number) => void): void {
  const command = parent
    .command('tail')
    .description('the latest runs, oldest first; with an id, what that run prints, until it has ended')
    .argument('[id]')
    .option('-f, --follow', 'go on with new runs, and with how they end')
    .option('-n, --lines <number>', 'how many to begin with', parseCount)
    .option('--tool <name>', 'only of this tool')
  withRegistryOptions(command).action((id: string | undefined, flags: TailFlags) =>
    withRegistry(host, flags, async (registry) => {
      if (id === undefined) await tailAll(host, registry, flags)
      else exit(await tailOne(host, registry, id, flags.json))
    }),
  )
}

/** Shows one run until it has ended; the exit code is that of a call. */
async function tailOne(host: CliHost, registry: RegistryClient, id: string, json = false): Promise<number> {
  const shown: Shown = { stdout: '', stderr: '' }
  for await (const event of registry.follow(id)) {
    // A line each, for programs that read them as they come.
    if (json) host.out(`${JSON.stringify(event)}\n`)
    if (event.event === 'status' && event.execution.reason === 'approval' && !json)
      host.err(waitingText({ executionId: id, expiresAt: event.execution.expiresAt }))
    if (event.event === 'output' && !json) {
      shown[event.stream] += event.text
      if (event.stream === 'stdout') host.out(event.text)
      else host.err(event.text)
    }
    if (event.event !== 'end') continue
    const answer = { tool: event.execution.toolName, ...answerOf(event.execution) }
    return printResult(json ? { ...host, out: () => {}, err: () => {} } : host, answer, { json: false, shown })
  }
  return 130
}

async function tailAll(host: CliHost, registry: RegistryClient, flags: TailFlags): Promise<void> {
  const { json, follow = false, lines = 10, tool } = flags
  const show = (runs: readonly ExecutionSummary[]) => {
    for (const run of runs) host.out(json ? `${JSON.stringify(run)}\n` : lineOf(run))
  }
  const list = (query: Record<string, unknown>) => registry.invoke(listExecutions, given({ tool, ...query }))
  const { items } = await list({ limit: Math.min(lines, 100) })
  show([...items].reverse())
  if (!follow) return
  const seen = new NewRuns(items)
  let isAway = false
  while (!host.signal.aborted) {
    await sleep(pollIntervalMs, undefined, { signal: host.signal }).catch(() => {})
    if (host.signal.aborted) return
    try {
      const runs = await seen.look({ list, get: (id) => registry.invoke(getExecution, { id }) })
      if (isAway) host.err('the server is back\n')
      isAway = false
      show(runs)
    } catch (thrown) {
      // A server that is away for a moment comes back.
      if (!(thrown instanceof TooldexError) || thrown.code !== 'UNAVAILABLE') throw thrown
      if (!isAway) host.err(`${thrown.message} Asking again every second; Ctrl+C ends this.\n`)
      isAway = true
    }
  }
}

function lineOf(run: ExecutionSummary): string {
  const end = [tookText(run.durationMs), run.errorCode ?? ''].filter((part) => part !== '').join(' ')
  const who = run.callerId ?? ''
  return `${timeOf(run.updatedAt)}  ${run.id}  ${stateOf(run).padEnd(9)}  ${toolOf(run)}  ${[who, end].filter(Boolean).join('  ')}\n`
}
