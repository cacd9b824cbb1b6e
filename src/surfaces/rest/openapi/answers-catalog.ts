import { content, exampleTimes, execution, ids, listedExecution, tool, waitingExecution } from './example-parts.ts'

const shown = {
  mode: 'search',
  results: [
    {
      id: tool.name,
      name: tool.name,
      shortDescription: tool.description,
      score: 0.684,
      scoreType: 'hybrid',
      signature: 'weather_now(city: string)',
      category: null,
    },
  ],
  spentTokens: 61,
  omitted: 0,
}

const doc = {
  id: tool.name,
  name: tool.name,
  summary: tool.description,
  category: null,
  tags: tool.tags,
  tool: { name: tool.name, description: tool.description, inputSchema: tool.inputSchema },
  annotations: tool.annotations,
  schemaInfo: { required: ['city'], defaults: {}, types: { city: ['string'] } },
}

const compiled = {
  name: tool.name,
  definition: { name: tool.name, description: tool.description, input_schema: content.inputSchema },
  losses: [
    {
      pointer: '/annotations/readOnlyHint',
      lost: 'readOnlyHint',
      why: 'The definition does not support annotations.',
    },
  ],
  id: tool.name,
}

const findAnswers = {
  'tools.search': shown,
  'tools.searchByAddress': shown,
  'tools.describe': { tools: [doc] },
  'tools.doc': doc,
  'llm.list': {
    definitions: [compiled.definition],
    aliases: { [tool.name]: tool.name },
    tools: [compiled],
    omitted: 0,
  },
  'llm.get': compiled,
  'search.learning': {
    keptIn: 'the database',
    count: 1,
    latest: [{ query: 'will it rain', toolIds: [tool.name] }],
  },
  'search.forget': { keptIn: 'the database', forgotten: 1 },
}

const scores = { recall1: 100, recall5: 100, recall10: 100, ndcg10: 100, mrr: 100, hit1: 100 }
const costs = { tokens: 61, p50Ms: 0.412, p95Ms: 0.412 }

const stateAnswers = {
  'catalog.eval': {
    sets: [{ set: 'catalog', tools: 46, queries: 1, ...scores, ...costs }],
    macro: { ...scores, ...costs },
    warnings: [],
  },
  'catalog.sources': {
    items: [
      { kind: 'config', name: 'git', state: 'loaded', tools: 45, warnings: 0 },
      { kind: 'registry', name: 'registry', state: 'loaded', tools: 1, registered: 1, warnings: 0 },
    ],
    revision: 'fN3vQ0aL2c',
  },
  'catalog.lint': {
    findings: [
      {
        rule: 'undescribed-arguments',
        severity: 'warning',
        tool: tool.name,
        message: 'no description for city',
        hint: 'Describe each argument, with an example if its format matters.',
      },
    ],
    counts: { error: 0, warning: 1, info: 0 },
    tools: 46,
    sources: [
      { source: 'git', tools: 45, tokens: 6820 },
      { source: 'registry', tools: 1, tokens: 42 },
    ],
    tokens: 6862,
    score: 99.1,
    summary: '99.1 of 100: 46 tool(s), 6862 tokens, 0 error(s), 1 warning(s), 0 note(s)',
  },
  'catalog.stats': {
    tools: { total: 1, status: { ACTIVE: 1 }, executorType: { http: 1 } },
    versions: 2,
    categories: 1,
    tags: 1,
    policies: 1,
    openProposals: 1,
    catalog: { total: 46, source: { cli: 45, registry: 1 } },
    catalogue: { total: 46, source: { cli: 45, registry: 1 } },
    keys: 2,
    database: { engine: 'pglite', bytes: 8_872_059 },
  },
}

const cancelled = {
  ...waitingExecution,
  status: 'CANCELLED',
  completedAt: exampleTimes.answered,
  updatedAt: exampleTimes.answered,
}

const runAnswers = {
  'tools.execute': execution,
  'llm.invoke': {
    success: true,
    result: execution.outputData,
    error: null,
    executionId: ids.execution,
    durationMs: execution.durationMs,
    stored: null,
  },
  'registry.executions': { items: [listedExecution], total: 1 },
  'executions.list': { items: [listedExecution], total: 1 },
  'executions.get': execution,
  'executions.cancel': {
    ...cancelled,
    errorCode: 'EXECUTION_CANCELLED',
    errorMessage: 'The run was cancelled.',
  },
  'executions.approve': waitingExecution,
  'executions.refuse': {
    ...cancelled,
    reason: 'approval',
    errorCode: 'APPROVAL_REFUSED',
    errorMessage: 'The call was refused: not on a Friday',
  },
  'queue.read': {
    queued: 0,
    waitingForApproval: 1,
    running: 1,
    oldestQueuedMs: null,
    workers: [
      {
        worker: listedExecution.worker,
        kind: 'server',
        version: '0.1.0',
        executors: ['cli', 'http', 'mcp', 'python', 'shell'],
        labels: [],
        slots: 16,
        takesWork: true,
        draining: false,
        running: 1,
        startedAt: listedExecution.createdAt,
        lastSeenAt: listedExecution.updatedAt,
        alive: true,
      },
    ],
  },
  'results.read': {
    mediaType: 'application/json',
    items: [{ hour: '08:00', sky: 'snow' }],
    total: 240,
    nextOffset: 1,
  },
  'results.content': { mediaType: 'application/json', content: '[{"hour":"08:00","sky":"snow"}]' },
}

/** Example responses of operations on the catalog and on runs, by operation name. */
export const catalogAnswers = { ...findAnswers, ...stateAnswers, ...runAnswers }
