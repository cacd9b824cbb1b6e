/** Timestamps of the examples, in chronological order. */
export const exampleTimes = {
  started: '2026-03-02T08:00:00.000Z',
  created: '2026-03-02T09:15:00.000Z',
  changed: '2026-03-03T14:30:00.000Z',
  called: '2026-03-04T07:45:00.000Z',
  answered: '2026-03-04T07:45:00.412Z',
  decided: '2026-03-05T10:00:00.000Z',
} as const

/** Ids of the examples. */
export const ids = {
  tool: '3f6c1f0e-5f0a-4a6b-9d55-0f2f5b7c8a11',
  category: '9b2d7c54-2c1e-4c52-8a0d-6f1a7f3be0c2',
  proposal: 'c1a5e8d2-77b4-4f8e-b6a3-2d9e4f60a7b3',
  key: '5e0b9a73-1d4c-4b3f-a2c8-8f7d6e5c4b34',
  execution: 'd4f3c2b1-a098-4765-8432-10fedcba9845',
  request: '71c0ffee-4b1d-4c0d-9e5a-0a1b2c3d4e56',
  result: 'a8b7c6d5-e4f3-4210-9f8e-7d6c5b4a3967',
  firstVersion: '0a9b8c7d-6e5f-4a3b-8c2d-1e0f9a8b7c78',
  latestVersion: '1b0c9d8e-7f6a-4b5c-9d4e-2f3a1b0c9d89',
} as const

/** The actor of the examples. */
export const actor = 'key:admin'

/** The input that registers the example tool. */
export const toolInput = {
  name: 'weather_now',
  displayName: 'Weather now',
  description: 'Returns the current weather of a city.',
  tags: ['weather'],
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  executorType: 'http',
  executorConfig: { method: 'GET', url: 'https://weather.example/{city}' },
  annotations: { readOnlyHint: true },
}

/** The change that makes its second version. */
export const changeInput = {
  description: 'Returns the weather of a city now and in the next hour.',
  changelog: 'add the next hour',
}

/** The content of the first version, with defaults. */
export const firstContent = {
  ...toolInput,
  outputSchema: {},
  categoryId: null,
  namespace: null,
  summary: null,
  exampleRequests: [],
  examples: [],
  notes: null,
  externalRefs: [],
  icons: [],
  _meta: {},
  inputModes: [],
  outputModes: [],
  securitySummary: null,
  scriptContent: null,
}

/** The content of the second version. */
export const content = { ...firstContent, description: changeInput.description }

/** The tool after registration. */
export const draftToolExample = {
  ...firstContent,
  id: ids.tool,
  status: 'DRAFT',
  version: 1,
  createdAt: exampleTimes.created,
  updatedAt: exampleTimes.created,
}

/** The current tool. */
export const tool = { ...draftToolExample, ...content, status: 'ACTIVE', version: 2, updatedAt: exampleTimes.changed }

/** The versions of the tool, the latest first. */
export const versions = [
  {
    id: ids.latestVersion,
    version: 2,
    changelog: changeInput.changelog,
    isLatest: true,
    createdAt: exampleTimes.changed,
    content,
  },
  {
    id: ids.firstVersion,
    version: 1,
    changelog: 'first version',
    isLatest: false,
    createdAt: exampleTimes.created,
    content: firstContent,
  },
].map((version) => ({
  toolId: ids.tool,
  legacyVersion: null,
  createdBy: actor,
  updatedAt: exampleTimes.changed,
  ...version,
}))

/** A category. */
export const category = {
  id: ids.category,
  name: 'Weather',
  description: 'Weather and forecasts.',
  parentId: null,
  createdAt: exampleTimes.created,
  updatedAt: exampleTimes.created,
}

/** A key, without its secret. */
export const key = {
  id: ids.key,
  name: 'dashboard',
  prefix: 'tdx_4hQw',
  scopes: ['read'],
  createdAt: exampleTimes.created,
  createdBy: actor,
  expiresAt: '2030-01-01T00:00:00.000Z',
  revokedAt: null,
  lastUsedAt: null,
}

/** A policy by its name. */
export const policy = {
  name: 'weather',
  policy: {
    executor: { type: 'local', volumes: [] },
    default: 'disabled',
    tools: { weather_now: { args: { city: { pattern: '[A-Z][a-z]+' } } } },
  },
}

/** A secret, without its value. */
export const secret = {
  name: 'WEATHER_TOKEN',
  createdAt: exampleTimes.created,
  updatedAt: exampleTimes.created,
  createdBy: actor,
}

/** A run of the tool in a list. */
export const listedExecution = {
  id: ids.execution,
  toolId: ids.tool,
  toolName: tool.name,
  version: tool.version,
  status: 'SUCCESS',
  reason: null,
  result: null,
  errorMessage: null,
  errorCode: null,
  exitCode: null,
  truncated: false,
  isolation: 'none',
  environment: null,
  worker: 'host:4711:5f0c2b9e',
  attempt: 1,
  timeoutMs: 30_000,
  idempotencyKey: null,
  callerId: actor,
  callerLabel: null,
  traceId: null,
  startedAt: exampleTimes.called,
  completedAt: exampleTimes.answered,
  durationMs: 412,
  expiresAt: null,
  createdAt: exampleTimes.called,
  updatedAt: exampleTimes.answered,
}

/** The run with input and output. */
export const execution = {
  ...listedExecution,
  inputData: { city: 'Oslo' },
  outputData: { now: 'snow', degrees: -3, nextHour: 'snow' },
  logs: { stdout: '', stderr: '' },
}

/** The run while it is queued. */
export const waitingExecution = {
  ...execution,
  status: 'PENDING',
  reason: 'queued',
  outputData: null,
  isolation: null,
  worker: null,
  attempt: 0,
  startedAt: null,
  completedAt: null,
  durationMs: null,
  updatedAt: exampleTimes.called,
}

/** A proposed change. */
export const proposal = {
  id: ids.proposal,
  toolId: ids.tool,
  status: 'OPEN',
  baseVersion: tool.version,
  change: { tags: ['weather', 'forecast'] },
  reason: 'found more easily',
  changelog: null,
  createdAt: exampleTimes.called,
  createdBy: actor,
  decidedAt: null,
  decidedBy: null,
  decision: null,
  acceptedVersion: null,
  replay: null,
  diff: {
    class: 'wording',
    fields: [{ field: 'tags', class: 'wording', before: ['weather'], after: ['weather', 'forecast'] }],
  },
}
