import type { CliConfig } from '../contract/cli-config.ts'
import type { Policy } from '../contract/policy.ts'

/** Warnings about tools and arguments of a policy that no config has: usually a typo, which leaves a tool without its rule. */
export function findUnknownNames(policy: Policy, configs: readonly CliConfig[]): readonly string[] {
  const tools = new Map(configs.flatMap((config) => config.tools.map((tool) => [tool.name, { config, tool }])))
  return Object.entries(policy.tools).flatMap(([name, rule]) => {
    const entry = tools.get(name)
    if (entry === undefined) return [`the policy names the tool '${name}', which no config has`]
    const args = new Set([...entry.tool.args, ...entry.config.globalArgs].map((arg) => arg.name))
    return Object.keys(rule.args)
      .filter((arg) => !args.has(arg))
      .map((arg) => `the policy constrains '${arg}' of ${name}, which has no such argument`)
  })
}
