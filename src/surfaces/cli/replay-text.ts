import type * as z from 'zod'
import { toOneLine } from '../../base/visible-text.ts'
import type { ReplayReport } from '../../contract/replay.ts'
import type { getProposal } from '../../operations/registry/proposals.ts'
import { describeDiff } from '../../versions/index.ts'

/** Formats a replay: the counts, and each input with a different output. */
export function replayText({ same, differs, failed, version, runs }: ReplayReport): string {
  const counts = `${same} the same as version ${version}, ${differs} different, ${failed} failed\n`
  if (runs.length === 0) return `${counts}No successful run is recorded to compare with; call the tool first.\n`
  const lines = runs
    .filter(({ outcome }) => outcome !== 'same')
    .flatMap(({ outcome, inputData, differences, error }) => [
      `${outcome}: ${formatValue(inputData)}`,
      ...(error === null ? [] : [`    ${error.code}: ${toOneLine(error.message)}`]),
      ...differences.flatMap(({ pointer, before, after }) => [
        `    ${pointer === '' ? 'output' : pointer}`,
        ...(before === undefined ? [] : [`      - ${formatValue(before)}`]),
        ...(after === undefined ? [] : [`      + ${formatValue(after)}`]),
      ]),
    ])
  return [counts, ...lines.map((line) => `${line}\n`)].join('')
}

/** Formats a proposed change. */
export function proposalText({
  id,
  status,
  baseVersion,
  change,
  reason,
  diff,
  replay,
}: z.output<typeof getProposal.output>) {
  const lines = [
    `proposal ${id}: ${status}, made from version ${baseVersion}${reason === null ? '' : `: ${toOneLine(reason)}`}`,
    `changes ${Object.keys(change).join(', ')}${diff === undefined ? '' : ` (${diff.class})`}`,
    replay === null ? 'not replayed yet' : `replayed ${replay.at} by ${replay.by}: ${replayText(replay).trimEnd()}`,
    ...(diff === undefined ? [] : ['', describeDiff(diff)]),
  ]
  return `${lines.join('\n')}\n`
}

const formatValue = (value: unknown): string => toOneLine(JSON.stringify(value) ?? '')
