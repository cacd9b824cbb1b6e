import { TooldexError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import { formatProblem, type Problem } from '../../base/problem.ts'
import type { LoadedConfig } from '../../contract/cli-config.ts'
import type { Policy } from '../../contract/policy.ts'
import { findUnknownNames, loadPolicy } from '../../policy/load-policy.ts'
import { ToolIndex } from '../../search/tool-index.ts'

/** All configs at one moment: built whole, swapped whole. */
export interface ConfigSnapshot {
  readonly index: ToolIndex
  readonly policy: Policy | undefined
  readonly configs: readonly LoadedConfig[]
  /** Incremented by every reload that took effect. */
  readonly version: number
}

/** Builds the tools of configs under the policy file, and logs warnings. */
export function buildConfigSnapshot(
  {
    policyFile,
    policy: ownPolicy,
    logger,
  }: { readonly policyFile?: string | undefined; readonly policy?: Policy | undefined; readonly logger: Logger },
  configs: readonly LoadedConfig[],
  version: number,
): ConfigSnapshot {
  const own = ownPolicy && { value: ownPolicy, warnings: [] }
  const policy = policyFile === undefined ? own : loadPolicy(policyFile)
  const parsed = configs.map((loaded) => loaded.config)
  for (const warning of [...configs.flatMap((loaded) => loaded.warnings), ...(policy?.warnings ?? [])]) {
    logger.warn(formatProblem(warning))
  }
  // A program may have other tools than those of configs.
  if (policy !== undefined && ownPolicy === undefined)
    for (const unknown of findUnknownNames(policy.value, parsed)) logger.warn(unknown)
  const index = ToolIndex.fromConfigs(parsed, {
    policy: policy?.value,
    checked: true,
    onDuplicate: (tool, cli) => logger.warn(`tool '${tool}' is defined more than once; the one in '${cli}' is used`),
  })
  return { index, policy: policy?.value, configs, version }
}

/** The error for configs of which none could be loaded. */
export function allConfigsFailed(failures: readonly TooldexError[]): TooldexError {
  const [only] = failures
  if (only !== undefined && failures.length === 1) return only
  const message = `None of the ${failures.length} configs could be loaded.`
  const problems = failures.flatMap((failure): readonly Problem[] =>
    failure.problems.length > 0 ? failure.problems : [{ severity: 'error', message: failure.message }],
  )
  return new TooldexError('CONFIG_INVALID', message, { problems })
}

/** The problems of a failure, one line each. */
export const reasonsOf = (error: TooldexError): readonly string[] =>
  error.problems.length > 0 ? error.problems.map(formatProblem) : [error.message]
