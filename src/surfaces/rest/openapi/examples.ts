import { category, changeInput, key, policy, proposal, toolInput } from './example-parts.ts'

/** Example request bodies, by operation name. */
export const bodyExamples: Readonly<Record<string, unknown>> = {
  'registry.create': { ...toolInput, changelog: 'first version' },
  'registry.change': changeInput,
  'registry.validateDraft': toolInput,
  'versions.rollback': { version: 1, changelog: 'the next hour was wrong' },
  'proposals.create': { change: proposal.change, reason: proposal.reason },
  'proposals.accept': { note: 'agreed' },
  'proposals.refuse': { note: 'not yet' },
  'categories.create': { name: category.name, description: category.description },
  'categories.change': { name: 'Weather and climate' },
  'tags.rename': { from: 'wether', to: 'weather' },
  'keys.create': { name: key.name, scopes: key.scopes, expiresAt: key.expiresAt },
  'policies.put': { default: policy.policy.default, tools: policy.policy.tools },
  'bundle.import': {
    bundle: {
      tooldex: 1,
      categories: [{ name: category.name, description: category.description }],
      tools: [toolInput],
    },
    dryRun: true,
  },
  'catalog.eval': { queries: [{ query: 'will it rain', relevant: ['weather_now'] }], mode: 'hybrid' },
  'tools.search': { query: 'will it rain', limit: 5 },
  'tools.execute': { input: { city: 'Oslo' }, wait: true },
  'llm.invoke': { arguments: { city: 'Oslo' } },
  'executions.approve': { note: 'agreed with the team' },
  'executions.refuse': { note: 'not on a Friday' },
  'secrets.put': { value: 'what-the-service-gave-you' },
  'proposals.replay': { limit: 10 },
  'tools.describe': { ids: ['weather_now'], level: 'schema' },
}
