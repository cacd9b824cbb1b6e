import type * as z from 'zod'
import { toOneLine } from '../../base/visible-text.ts'
import type { ReplayReport } from '../../contract/replay.ts'
import type { getProposal } from '../../operations/registry/proposals.ts'
import { describeDiff } from '../../versions/index.ts'

/** What came of a replay: the counts, and each input that did not give the same. */
export function replayText({ same, differs, failed, version, runs }: ReplayReport): string {
  const counts = `${same} the same as version ${version}, ${differs} different, ${failed} failed\n`
  if (runs.length === 0) return `${counts}No successful run is recorded to compare with; call the tool first.\n`
  const lines = runs
    .filter(({ outcome }) => outcome !== 'same')
    .flatMap(({ outcome, inputData, differences, error }) => [
      `${outcome}: ${shown(inputData)}`,
      ...(error === null ? [] : [`    ${error.code}: ${toOneLine(error.message)}`]),
      ...differences.flatMap(({ pointer, before, after }) => [
        `    ${pointer === '' ? 'output' : pointer}`,
        ...(before === undefined ? [] : [`      - ${shown(before)}`]),
        ...(after === undefined ? [] : [`      + ${shown(after)}`]),
      ]),
    ])
  return [counts, ...lines.map((line) => `${line}\n`)].join('')
}

/** A proposed change in words. */
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

const shown = (value: unknown): string => toOneLine(JSON.stringify(value) ?? '')
