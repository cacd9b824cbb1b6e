import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { TooldexError } from '../../../base/errors.ts'
import { ensureFolder } from '../../../base/home-files.ts'
import { showInvisible } from '../../../base/invisible-characters.ts'
import { SearchMode } from '../../../contract/search.ts'
import { mineGoldenSet } from '../../../operations/eval/eval-catalog.ts'
import { evalSearch } from '../../../operations/eval/eval-search.ts'
import { invoke } from '../../../operations/invoke.ts'
import { formatTable } from '../format-table.ts'
import type { CliHost } from '../host.ts'
import { type AddCommand, parseCount, toJson } from './command.ts'

interface EvalFlags {
  readonly mode?: SearchMode
  readonly limit?: number
  readonly run?: string
  readonly learn?: string
  readonly baseline?: string
  readonly maxDrop?: number
  readonly json?: boolean
  readonly mine?: boolean
}

type Answer = Awaited<ReturnType<typeof evalSearch.handle>>

/** `tooldex eval DIR...`: measures the quality of search. */
export const addEval: AddCommand = (program, host, exit) => {
  program
    .command('eval')
    .argument('<dir...>', 'folders that contain tools.jsonl and queries.jsonl')
    .addOption(new Option('--mode <mode>', 'ranking method (default: hybrid)').choices(SearchMode.options))
    .option('--limit <n>', 'number of results for each query (default: 10)', parseCount)
    .option('--run <file>', 'write the results to this file, one JSON line for each query')
    .option('--learn <file>', 'file of queries with correct tools for search to learn first')
    .option('--baseline <file>', 'compare with the --json output of an earlier run')
    .option('--max-drop <points>', 'fail if the macro nDCG@10 dropped by more than this', parsePoints)
    .option('--mine', 'write a set of recorded calls to the folder instead')
    .option('--json', 'print JSON')
    .action(async (folders: string[], { run, json, mine, ...flags }: EvalFlags) => {
      if (mine) return writeMined(folders, host)
      const progress = showProgress(host)
      const context = { ...(await host.open({ configs: [] })), signal: host.signal, onProgress: progress.show }
      const input = { folders, ...flags, rankings: run !== undefined }
      const answer = await invoke(evalSearch, input, context).finally(progress.clear)
      if (run !== undefined) writeRun(run, answer.rankings ?? [])
      for (const warning of answer.warnings) host.err(`warning: ${showInvisible(warning)}\n`)
      host.out(json ? toJson({ sets: answer.sets, macro: answer.macro }) : toText(answer, host.columns))
      if (answer.drop !== undefined) host.err(dropText(answer.drop, flags.maxDrop))
      if (answer.drop?.tooMuch) exit(1)
    })
}

/** Writes a golden set of recorded searches and calls. */
async function writeMined([folder = '.', ...more]: readonly string[], host: CliHost): Promise<void> {
  if (more.length > 0) throw new TooldexError('USAGE', '--mine writes one set: give one folder.')
  const files = { tools: join(folder, 'tools.jsonl'), queries: join(folder, 'queries.jsonl') }
  for (const file of Object.values(files)) if (existsSync(file)) throw existing(file)
  const { tools, queries } = await invoke(mineGoldenSet, {}, await host.open({ logLevel: 'ERROR' }))
  if (queries.length === 0) {
    host.err('No search was followed by a call of a tool that it found: nothing was written.\n')
    return
  }
  const toLines = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  try {
    ensureFolder(folder)
    writeFileSync(files.tools, toLines(tools), { flag: 'wx' })
    writeFileSync(files.queries, toLines(queries), { flag: 'wx' })
  } catch (cause) {
    throw new TooldexError('FILE_REFUSED', `${folder} cannot be written.`, { hint: 'Choose another folder.', cause })
  }
  host.out(`${queries.length} queries over ${tools.length} tools written to ${folder}\n`)
}

const existing = (file: string): TooldexError =>
  new TooldexError('FILE_REFUSED', `${file} exists.`, { hint: 'Choose a folder without a set; no file is replaced.' })

function toText({ sets, macro }: Answer, columns: number): string {
  const header = [
    'Set',
    'Tools',
    'Queries',
    'R@1',
    'R@5',
    'R@10',
    'nDCG@10',
    'MRR',
    'Hit@1',
    'Set R@5',
    'AUROC',
    'False none',
    'True none',
    'Tokens',
    'p50 ms',
    'p95 ms',
  ]
  const numbers = (line: Answer['macro']) => [
    ...[line.recall1, line.recall5, line.recall10, line.ndcg10, line.mrr, line.hit1].map((value) => value.toFixed(2)),
    ...[line.setRecall5, line.auroc, line.falseAbstention, line.trueAbstention].map((value) => value.toFixed(1)),
    line.tokens.toFixed(0),
    ...[line.p50Ms, line.p95Ms].map((value) => value.toFixed(2)),
  ]
  const rows = sets.map((line) => [showInvisible(line.set), String(line.tools), String(line.queries), ...numbers(line)])
  return `${formatTable(header, [...rows, ['macro', '', '', ...numbers(macro)]], columns)}\n`
}

function dropText({ before, now, points, tooMuch }: NonNullable<Answer['drop']>, maxDrop: number | undefined): string {
  const change = points > 0 ? `fell by ${points} points` : `rose by ${-points || 0} points`
  const verdict =
    maxDrop === undefined ? '' : tooMuch ? `, more than the ${maxDrop} allowed` : `; ${maxDrop} may be lost`
  return `Macro nDCG@10 ${change}, from ${before} to ${now}${verdict}.\n`
}

function writeRun(file: string, rankings: NonNullable<Answer['rankings']>): void {
  try {
    writeFileSync(file, rankings.map(({ id, results }) => `${JSON.stringify({ id, results })}\n`).join(''))
  } catch (cause) {
    throw new TooldexError('FILE_REFUSED', `${file} cannot be written.`, { hint: 'Choose another file.', cause })
  }
}

/** Shows the number of finished queries on a terminal. */
function showProgress(host: CliHost) {
  const watched = process.stderr.isTTY === true
  let last = 0
  return {
    show: (done: number): void => {
      if (!watched || performance.now() - last < 100) return
      last = performance.now()
      process.stderr.write(`\r${done} queries`)
    },
    clear: (): void => {
      if (last > 0) process.stderr.write(`\r${' '.repeat(host.columns - 1)}\r`)
    },
  }
}

function parsePoints(text: string): number {
  const points = Number(text)
  if (text.trim() === '' || !(points >= 0)) throw new InvalidArgumentError('Enter a number of points, such as 0.5.')
  return points
}
