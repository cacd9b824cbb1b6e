interface Bound {
  readonly pattern?: string | undefined
  readonly min?: number | undefined
  readonly max?: number | undefined
}

/** A policy, as far as its effect on one tool depends on it. */
export interface PolicyRules {
  readonly default?: string | undefined
  readonly tools?: Readonly<
    Record<string, { readonly args?: Readonly<Record<string, Bound>>; readonly requireApproval?: boolean | undefined }>
  >
}

/** What a policy does to a tool. */
export interface PolicyEffect {
  readonly kind: 'hidden' | 'restricted' | 'allowed'
  readonly details: readonly string[]
}

/** A tool with a rule is restricted by it; others follow the default of the policy. */
export function effectOn({ default: fallback = 'disabled', tools = {} }: PolicyRules, tool: string): PolicyEffect {
  const rule = Object.hasOwn(tools, tool) ? tools[tool] : undefined
  if (rule === undefined) return { kind: fallback === 'enabled' ? 'allowed' : 'hidden', details: [] }
  const bounds = Object.entries(rule.args ?? {}).map(([name, bound]) => `${name} ${describe(bound)}`)
  const details = [...(rule.requireApproval === true ? ['each call needs approval'] : []), ...bounds]
  return { kind: details.length === 0 ? 'allowed' : 'restricted', details }
}

const describe = ({ pattern, min, max }: Bound): string =>
  [
    pattern === undefined ? '' : `matches ${pattern}`,
    min === undefined ? '' : `is at least ${min}`,
    max === undefined ? '' : `is at most ${max}`,
  ]
    .filter((text) => text !== '')
    .join(' and ')
