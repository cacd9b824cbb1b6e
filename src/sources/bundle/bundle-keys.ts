import { policyKeys } from '../../contract/policy.ts'
import { bothSpellings, type KeyShape, sameKeys } from '../../documents/yaml-keys.ts'

/** The keys of a tool in the order of output. */
export const bundleToolFields = [
  ...['name', 'displayName', 'namespace', 'category', 'status', 'tags', 'description', 'summary', 'notes'],
  ...[
    'exampleRequests',
    'examples',
    'externalRefs',
    'annotations',
    'icons',
    '_meta',
    'inputModes',
    'outputModes',
    'securitySummary',
  ],
  ...['inputSchema', 'outputSchema', 'executorType', 'executorConfig', 'scriptContent', 'changelog'],
] as const

/** The keys of a tool: as on the wire, or in snake_case. */
export const toolKeys: KeyShape = {
  keys: bothSpellings(bundleToolFields.join(' ')),
  inside: { examples: { keys: bothSpellings('title description args resultHint') } },
}

/** The keys of a bundle: as on the wire, or in snake_case. */
export const bundleKeys: KeyShape = {
  keys: sameKeys('tooldex categories tools policies'),
  inside: {
    categories: { keys: sameKeys('name description parent') },
    tools: toolKeys,
    policies: { keys: sameKeys('name policy'), inside: { policy: policyKeys } },
  },
}
