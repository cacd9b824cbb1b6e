const tool = {
  name: 'weather_now',
  displayName: 'Weather now',
  description: 'Tells the weather of a city at this moment.',
  tags: ['weather'],
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  executorType: 'http',
  executorConfig: { method: 'GET', url: 'https://weather.example/{city}' },
}

/** A body for each operation that takes one, by the operation's name. */
export const bodyExamples: Readonly<Record<string, unknown>> = {
  'registry.create': { ...tool, changelog: 'first version' },
  'registry.change': { description: 'Tells the weather of a city, and of the next hour.', changelog: 'one hour more' },
  'registry.validateDraft': tool,
  'versions.rollback': { version: 1, changelog: 'the next hour was wrong' },
  'proposals.create': { change: { tags: ['weather', 'forecast'] }, reason: 'found more easily' },
  'proposals.accept': { note: 'agreed' },
  'proposals.refuse': { note: 'not yet' },
  'categories.create': { name: 'Weather', description: 'What the sky does.' },
  'categories.change': { name: 'Weather and climate' },
  'tags.rename': { from: 'wether', to: 'weather' },
  'keys.create': { name: 'dashboard', scopes: ['read'], expiresAt: '2030-01-01T00:00:00Z' },
  'policies.put': { default: 'disabled', tools: { weather_now: { args: { city: { pattern: '[A-Z][a-z]+' } } } } },
  'bundle.import': { bundle: { tooldex: 1, categories: [{ name: 'Weather' }], tools: [] }, dryRun: true },
  'tools.search': { query: 'will it rain', limit: 5 },
  'tools.execute': { input: { city: 'Oslo' }, wait: true },
  'llm.invoke': { arguments: { city: 'Oslo' } },
  'executions.approve': { note: 'agreed with the team' },
  'executions.refuse': { note: 'not on a Friday' },
  'secrets.put': { value: 'what-the-service-gave-you' },
  'proposals.replay': { limit: 10 },
  'tools.describe': { ids: ['weather_now'], level: 'schema' },
}
