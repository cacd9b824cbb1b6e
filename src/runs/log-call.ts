import type { Logger } from '../base/logger.ts'
import type { Executor, Job } from '../contract/executor.ts'
import type { RunOutcome } from '../contract/run.ts'

const maxWord = 120
const secretFlag = /^--?[\w-]*(?:token|secret|passw(?:or)?d|api[-_]?key|credentials?)$/i
const secretPair = /^([\w-]*(?:token|secret|passw(?:or)?d|api[-_]?key|credentials?)[=:]).+/is

interface LoggedCall {
  readonly job: Job
  readonly executor: Executor
  readonly outcome: RunOutcome
  readonly redact: (text: string) => string
}

/** Logs one line about a call, with the command or request that it ran and without secrets. */
export async function logCall(logger: Logger, { job, executor, outcome, redact }: LoggedCall): Promise<void> {
  if (logger.enabled?.('INFO') !== true) return
  const { status, errorCode, result } = outcome
  logger.info('call', {
    tool: job.tool.name,
    ...(await describeRun(job, executor, redact)),
    status,
    error: errorCode ?? undefined,
    exit: result.exitCode ?? undefined,
    ms: Math.round(result.durationMs),
  })
}

/** The plan of a call that could not be prepared has nothing to show. */
async function describeRun(job: Job, executor: Executor, redact: (text: string) => string) {
  try {
    const { argv, request } = await executor.plan(job)
    if (argv !== undefined) return { argv: JSON.stringify(maskWords(argv).map((word) => cut(redact(word)))) }
    return request === undefined ? {} : { request: cut(redact(`${request.method} ${request.url}`)) }
  } catch {
    return {}
  }
}

/** The value of a flag whose name says that it is secret is masked, also where a config passes it. */
const maskWords = (words: readonly string[]): readonly string[] =>
  words.map((word, index) =>
    secretFlag.test(words[index - 1] ?? '') ? '[redacted]' : word.replace(secretPair, '$1[redacted]'),
  )

const cut = (text: string): string =>
  text.length > maxWord ? `${text.slice(0, maxWord / 2)}… (${text.length} characters)` : text
