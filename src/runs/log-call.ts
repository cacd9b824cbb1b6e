import type { Logger } from '../base/logger.ts'
import type { Executor, Job } from '../contract/executor.ts'
import type { RunOutcome } from '../contract/run.ts'

const maxArgLength = 120
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

/** Returns nothing for a call whose plan fails. */
async function describeRun(job: Job, executor: Executor, redact: (text: string) => string) {
  try {
    const { argv, request } = await executor.plan(job)
    if (argv !== undefined) return { argv: JSON.stringify(maskSecrets(argv).map((arg) => cut(redact(arg)))) }
    return request === undefined ? {} : { request: cut(redact(`${request.method} ${request.url}`)) }
  } catch {
    return {}
  }
}

/** Masks the values of flags with the names of secrets, also those from a config. */
const maskSecrets = (argv: readonly string[]): readonly string[] =>
  argv.map((arg, index) =>
    secretFlag.test(argv[index - 1] ?? '') ? '[redacted]' : arg.replace(secretPair, '$1[redacted]'),
  )

const cut = (text: string): string =>
  text.length > maxArgLength ? `${text.slice(0, maxArgLength / 2)}… (${text.length} characters)` : text
