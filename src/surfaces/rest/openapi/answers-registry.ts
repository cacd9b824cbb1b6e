import {
  actor,
  category,
  changeInput,
  content,
  draftToolExample,
  exampleTimes,
  firstContent,
  ids,
  key,
  policy,
  proposal,
  secret,
  tool,
  versions,
} from './example-parts.ts'

const { diff, ...undiffed } = proposal
const decided = { decidedAt: exampleTimes.decided, decidedBy: actor }
const counted = { ...category, tools: 0, toolsBelow: 0 }
const { categoryId: _, ...bundled } = content
const renamed = { ...category, name: 'Weather and climate', updatedAt: exampleTimes.changed }
const nothing = { create: [], change: [], remove: [], unchanged: 0 }

const replay = {
  at: exampleTimes.decided,
  by: actor,
  version: tool.version,
  same: 1,
  differs: 0,
  failed: 0,
  runs: [
    {
      recordedId: ids.execution,
      executionId: 'e5d4c3b2-b1a0-4958-8746-53210fedcb78',
      outcome: 'same',
      inputData: { city: 'Oslo' },
      differences: [],
      error: null,
    },
  ],
}

const toolAnswers = {
  'registry.list': { items: [tool], total: 1 },
  'registry.create': draftToolExample,
  'registry.get': tool,
  'registry.change': { ...tool, status: 'DRAFT' },
  'registry.delete': tool,
  'registry.activate': tool,
  'registry.deactivate': { ...tool, status: 'DISABLED' },
  'registry.deprecate': { ...tool, status: 'DEPRECATED' },
  'registry.reactivate': tool,
  'registry.undeprecate': tool,
  'registry.validate': { valid: true, problems: [] },
  'registry.validateDraft': { valid: true, problems: [] },
}

const versionAnswers = {
  'versions.list': { items: versions, total: 2 },
  'versions.get': versions[1],
  'versions.diff': {
    class: 'wording',
    fields: [
      {
        field: 'description',
        class: 'wording',
        before: firstContent.description,
        after: content.description,
        text: `-${firstContent.description}\n+${content.description}`,
      },
    ],
    from: 1,
    to: 2,
    text: `wording: 1 field changed\ndescription (wording)\n  -${firstContent.description}\n  +${content.description}`,
  },
  'versions.rollback': { ...tool, ...firstContent, version: 3, updatedAt: exampleTimes.decided },
  'proposals.create': proposal,
  'proposals.list': { items: [undiffed], total: 1 },
  'proposals.get': { ...undiffed, diff, replay },
  'proposals.replay': replay,
  'proposals.accept': {
    proposal: { ...undiffed, ...decided, status: 'ACCEPTED', decision: 'agreed', acceptedVersion: 3 },
    tool: { ...tool, ...proposal.change, version: 3, updatedAt: exampleTimes.decided },
  },
  'proposals.refuse': { ...undiffed, ...decided, status: 'REFUSED', decision: 'not yet' },
}

const placeAnswers = {
  'categories.tree': { items: [{ ...counted, children: [] }] },
  'categories.list': { items: [counted] },
  'categories.create': category,
  'categories.get': category,
  'categories.change': renamed,
  'categories.delete': category,
  'tags.list': { items: [{ tag: 'weather', tools: 1 }] },
  'tags.rename': { tools: 1 },
  'bundle.export': {
    tooldex: 1,
    categories: [{ name: category.name, description: category.description, parent: null }],
    tools: [{ ...bundled, category: null, status: tool.status, changelog: null }],
    policies: [policy],
  },
  'bundle.import': {
    plan: {
      ...nothing,
      change: [{ name: tool.name, fields: ['description'] }],
      categories: { ...nothing, unchanged: 1 },
      policies: nothing,
    },
    diffs: [
      {
        tool: tool.name,
        class: 'wording',
        text: `wording: 1 field changed\ndescription (wording)\n  -${content.description}\n  +${firstContent.description}`,
      },
    ],
    applied: false,
    warnings: [],
  },
}

const adminAnswers = {
  'keys.create': { ...key, secret: 'tdx_4hQw-an-example-that-opens-nothing' },
  'keys.list': { items: [key] },
  'keys.current': { name: key.name, workspace: 'default', scopes: key.scopes },
  'keys.revoke': { ...key, revokedAt: exampleTimes.decided },
  'policies.list': { items: [policy] },
  'policies.get': policy,
  'policies.put': policy,
  'policies.delete': policy,
  'secrets.list': { items: [secret] },
  'secrets.put': secret,
  'secrets.remove': secret,
  'audit.list': {
    items: [
      {
        at: exampleTimes.changed,
        actor,
        action: 'tool.change',
        subject: `tool:${tool.name}`,
        before: { description: firstContent.description },
        after: { description: changeInput.description },
        requestId: ids.request,
      },
    ],
    nextCursor: 'WzQsIiJd',
  },
}

/** Example responses of registry operations, by operation name. */
export const registryAnswers = { ...toolAnswers, ...versionAnswers, ...placeAnswers, ...adminAnswers }
