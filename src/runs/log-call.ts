import type { Logger } from '../base/logger.ts'
import type { PreparedRun } from '../contract/executor.ts'
import type { RunOutcome } from '../contract/run.ts'
import type { PreparedCall } from './create-runner.ts'

const maxArgLength = 120
const secretFlag = /^--?[\w-]*(?:token|secret|passw(?:or)?d|api[-_]?key|credentials?)$/i
const secretPair = /^([\w-]*(?:token|secret|passw(?:or)?d|api[-_]?key|credentials?)[=:]).+/is

interface LoggedCall {
  readonly call: PreparedCall
  readonly outcome: RunOutcome
  readonly redact: (text: string) => string
}

/** Logs one line about a call, with the command or request that it ran and without secrets. */
export async function logCall(logger: Logger, { call, outcome, redact }: LoggedCall): Promise<void> {
  if (logger.enabled?.('INFO') !== true) return
  const { status, errorCode, result } = outcome
  logger.info('call', {
    tool: call.tool.name,
    ...(await describeRun(call.prepared, redact)),
    status,
    error: errorCode ?? undefined,
    exit: result.exitCode ?? undefined,
    ms: Math.round(result.durationMs),
  })
}

/** Returns nothing for a call whose plan fails. */
async function describeRun(prepared: PreparedRun, redact: (text: string) => string) {
  try {
    const plan = await prepared.plan()
    if ('argv' in plan) return { argv: JSON.stringify(maskSecrets(plan.argv).map((arg) => cut(redact(arg)))) }
    return 'request' in plan ? { request: cut(redact(`${plan.request.method} ${plan.request.url}`)) } : {}
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
