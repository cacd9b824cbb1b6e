import type { Command } from 'commander'
import type * as z from 'zod'
import { toOneLine } from '../../../../base/invisible-characters.ts'
import { simulatePolicy } from '../../../../operations/simulation/simulate-policy.ts'
import { formatTable } from '../../format-table.ts'
import type { CliHost } from '../../host.ts'
import { type AddCommand, parseCount, toJson } from '../command.ts'
import {
  definedOptions,
  findingText,
  type RegistryFlags,
  withRegistry,
  withRegistryOptions,
} from './registry-command.ts'

type Report = z.output<typeof simulatePolicy.output>
type Group = Report['groups'][number]

interface SimulateFlags extends RegistryFlags {
  readonly days?: number
  readonly name?: string
  readonly caller?: string
  readonly tool?: string
  readonly toolset?: string
  readonly limit?: number
  readonly failOnBlocked?: boolean
}

/** `tooldex policies simulate FILE`: the effect of a policy on the recorded calls. */
export function addSimulate(group: Command, host: CliHost, exit: Parameters<AddCommand>[2]): void {
  const command = group
    .command('simulate')
    .description('show what a policy would have blocked, bounded or sent to approval, over the recorded calls')
    .argument('<file>', 'policy in a YAML file')
    .option('--days <n>', 'only calls of the last days (default: 30)', parseCount)
    .option('--name <name>', 'the stored policy that the file replaces (default: none, the file is added)')
    .option('--caller <caller>', 'only calls of this caller, such as key:ci')
    .option('--tool <name>', 'only calls of the tool with this name')
    .option('--toolset <name>', 'only calls that this toolset restricted')
    .option('--limit <n>', 'maximum number of calls, newest first (default: 200000)', parseCount)
    .option('--fail-on-blocked', 'exit with code 1 if the policy refuses calls that the policies in force allow')
  withRegistryOptions(command).action(async (file: string, flags: SimulateFlags) => {
    const { loadPolicy } = await import('../../../../policy/index.ts')
    const { value: policy, warnings } = loadPolicy(file)
    for (const warning of warnings) host.err(findingText(warning))
    const { json, failOnBlocked, server, ...options } = flags
    const input = { policy, ...definedOptions(options) }
    const report = await withRegistry(host, server === undefined ? {} : { server }, (registry) =>
      registry.invoke(simulatePolicy, input, { signal: host.signal }),
    )
    host.out(json ? toJson(report) : reportText(report, host.columns))
    const { blocked, bounded } = report.newly
    if (failOnBlocked && blocked + bounded > 0) exit(1)
  })
}

function reportText(report: Report, columns: number): string {
  const { since, executions, truncated, outcomes, newly, groups } = report
  if (executions === 0)
    return `No calls are recorded since ${since.slice(0, 10)} that match, so there is nothing to simulate.\n`
  const more = truncated ? ', and more: raise --limit or filter by --caller and --tool' : ''
  const totals = [
    ['blocked', outcomes.blocked, newly.blocked],
    ['out of bounds', outcomes.bounded, newly.bounded],
    ['sent to approval', outcomes.approval, newly.approval],
    ['passed', outcomes.pass, newly.allowed],
    ['undecided', outcomes.undecided, ''],
  ].map((row) => row.map(String))
  const affected = groups.filter(({ examples }) => examples.length > 0)
  return [
    `${executions} recorded call(s) since ${since.slice(0, 10)}${more}`,
    formatTable(['Outcome', 'Calls', 'Newly'], totals, columns),
    ...(affected.length === 0 ? ['Every call would pass, as now.'] : [groupsText(affected, columns)]),
    ...affected.slice(0, maxShown).flatMap(exampleLines),
    ...(affected.length > maxShown ? [`Examples of ${affected.length - maxShown} more rows: --json`] : []),
    '',
  ].join('\n')
}

const maxShown = 20

function groupsText(groups: readonly Group[], columns: number): string {
  const rows = groups
    .slice(0, maxShown)
    .map(({ caller, tool, executions, outcomes: { blocked, bounded, approval, pass } }) =>
      [toOneLine(caller ?? 'none'), tool, executions, blocked, bounded, approval, pass].map(String),
    )
  return formatTable(['Caller', 'Tool', 'Calls', 'Blocked', 'Out of bounds', 'Approval', 'Passed'], rows, columns)
}

const exampleLines = ({ caller, tool, examples }: Group): readonly string[] =>
  examples.map(({ executionId, outcome, current, message = '' }) => {
    const change = outcome === current ? '' : ` (now: ${current})`
    return `${executionId} ${toOneLine(caller ?? 'none')} ${tool}: ${outcome}${change}. ${toOneLine(message)}`
  })
