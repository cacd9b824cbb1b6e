import type { CliConfig } from '../contract/cli-config.ts'
import type { Policy } from '../contract/policy.ts'

/** What a policy says about tools and arguments that no config has: usually a typing error that leaves a door open. */
export function findUnknownNames(policy: Policy, configs: readonly CliConfig[]): readonly string[] {
  const tools = new Map(configs.flatMap((config) => config.tools.map((tool) => [tool.name, { config, tool }])))
  return Object.entries(policy.tools).flatMap(([name, rule]) => {
    const known = tools.get(name)
    if (known === undefined) return [`the policy names the tool '${name}', which no config has`]
    const args = new Set([...known.tool.args, ...known.config.globalArgs].map((arg) => arg.name))
    return Object.keys(rule.args)
      .filter((arg) => !args.has(arg))
      .map((arg) => `the policy constrains '${arg}' of ${name}, which has no such argument`)
  })
}
