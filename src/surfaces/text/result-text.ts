import { constants } from 'node:os'
import type { Readiness } from '../../contract/catalog.ts'
import { exitMessage, type RunOutcome, type RunPlan } from '../../contract/run.ts'
import type { Fit } from '../../contract/search.ts'
import type { ToolExample } from '../../contract/tool-doc.ts'

/** The codes of calls that ended while they waited. */
const neverStarted: ReadonlySet<string | null> = new Set([
  'APPROVAL_REFUSED',
  'APPROVAL_EXPIRED',
  'QUEUE_EXPIRED',
  'CALLER_LOST',
])

/** Formats a finished run: stdout, then stderr, the error message and the exit code, if any. */
export function outcomeText({ result, output, status, errorCode, errorMessage }: RunOutcome): string {
  const { stderr, exitCode, signal } = result
  if (neverStarted.has(errorCode) && errorMessage !== null) return `${errorMessage}\nThe tool was not started.`
  const text = output === undefined ? result.stdout : typeof output === 'string' ? output : JSON.stringify(output)
  // The exit code has a line of its own.
  const reason = status === 'SUCCESS' || errorMessage === exitMessage(exitCode) ? '' : (errorMessage ?? '')
  const problems = [stderr.trim(), reason].filter((part) => part !== '').join('\n')
  const parts = [
    text.trim(),
    problems === '' ? '' : `[stderr]\n${problems}`,
    (exitCode === 0 && signal === null) || output !== undefined
      ? ''
      : `[exit code: ${exitCode ?? signalCode(status, signal)}]`,
  ]
  return parts.filter((part) => part !== '').join('\n\n') || '(no output)'
}

/** The negative number of the signal that ended a program; -1 without a signal, or if Tooldex sent it. */
function signalCode(status: RunOutcome['status'], signal: string | null): number {
  const number = (constants.signals as Readonly<Record<string, number>>)[signal ?? '']
  return status === 'FAILED' && number !== undefined ? -number : -1
}

/** Formats the plan of a call as a command line. */
export function planText(plan: RunPlan): string {
  const { kind: _kind, isolation, timeoutMs, ...work } = plan
  const within = `for at most ${timeoutMs / 1000}s`
  if ('request' in work) return [requestText(work.request), within].join('\n')
  if ('upstream' in work) {
    const { server, tool, arguments: args } = work.upstream
    return [`${server}: ${tool} ${JSON.stringify(args)}`, within].join('\n')
  }
  if (!('argv' in work)) return [JSON.stringify(work), within].join('\n')
  const lines = [work.argv.map(quote).join(' ')]
  if ('script' in work) lines.push(`a script of ${work.script.bytes} bytes, sha256 ${work.script.sha256}`)
  const { network } = work
  const cwd = 'cwd' in work ? work.cwd : null
  lines.push(`in ${cwd ?? (network === undefined ? 'the current folder' : 'a fresh folder')}, ${within}`)
  if ('stdin' in work && work.stdin) lines.push('with a value piped to stdin')
  if ('environment' in work && work.environment !== null) lines.push(`with the packages of ${work.environment}`)
  if (isolation === 'limited' && network !== undefined)
    lines.push('limited: no sandbox, with the network and files of the server')
  else if (network !== undefined) lines.push(`${isolation}, ${network ? 'with' : 'without'} network`)
  return lines.join('\n')
}

function requestText({ method, url, headers, body }: Extract<RunPlan, { kind: 'http' }>['request']): string {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${url}`, ...head, ...(body === null ? [] : ['', body])].join('\n')
}

const quote = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** The sources of an approval requirement, appended to a plan. */
export const approvalText = (sources: readonly string[]): string =>
  sources.length === 0 ? '' : `\nafter approval (required by ${sources.join(' and ')})`

/** An example on one line: `Title - description: {"arguments":1} -> result`. */
export function exampleText({ title, description, args, resultHint }: ToolExample): string {
  const call = args === undefined ? '' : `: ${JSON.stringify(args)}`
  const result = resultHint === undefined ? '' : ` -> ${resultHint}`
  return `${title === undefined ? '' : `${title} - `}${description}${call}${result}`
}

/** The readiness of a tool that cannot be called now, in words. */
export function readinessText({ state, reason = state, url, lastSuccessAt, p95Ms }: Readiness): string {
  const parts = [
    reason,
    ...(url === undefined ? [] : [`see ${url}`]),
    ...(lastSuccessAt === undefined ? [] : [`last success at ${lastSuccessAt}`]),
    ...(p95Ms === undefined ? [] : [`95 % of its calls took at most ${p95Ms} ms`]),
  ]
  return `not ready: ${parts.join('; ')}`
}

/** The verdict of a search. */
export const verdictTexts: Readonly<Record<Fit, string>> = {
  good: 'Fit: good.',
  weak: 'Fit: weak. No tool matches the request closely.',
  none: 'Fit: none. No tool here does this; the nearest:',
}
