import { constants } from 'node:os'
import type { CommandPlan, RunOutcome } from '../contract/run.ts'

/** A finished run as text: stdout, then stderr and the exit code where there is something to say. */
export function outcomeText({ result, status, errorMessage }: RunOutcome): string {
  const { stdout, stderr, exitCode, signal } = result
  const own = status === 'SUCCESS' || (exitCode !== null && status === 'FAILED') ? '' : (errorMessage ?? '')
  const problems = [stderr.trim(), own].filter((part) => part !== '').join('\n')
  const parts = [
    stdout.trim(),
    problems === '' ? '' : `[stderr]\n${problems}`,
    exitCode === 0 && signal === null ? '' : `[exit code: ${exitCode ?? signalCode(status, signal)}]`,
  ]
  return parts.filter((part) => part !== '').join('\n\n') || '(no output)'
}

/** Minus the number of the signal that ended a program; -1 where there was none, or where it was ours. */
function signalCode(status: RunOutcome['status'], signal: string | null): number {
  const number = (constants.signals as Readonly<Record<string, number>>)[signal ?? '']
  return status === 'FAILED' && number !== undefined ? -number : -1
}

/** What a call would run, as a person would type it. */
export function planText({ argv, cwd, timeoutMs, stdin }: CommandPlan): string {
  const lines = [argv.map(quote).join(' '), `in ${cwd ?? 'the current folder'}, for at most ${timeoutMs / 1000}s`]
  if (stdin) lines.push('with a value piped to stdin')
  return lines.join('\n')
}

const quote = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
