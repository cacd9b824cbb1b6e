import { HttpServer, StdioServer } from '../../contract/mcp-server.ts'
import { limitKeys, policyKeys } from '../../contract/policy.ts'
import { toolsetKeys } from '../../contract/toolset.ts'
import type { Finding } from '../../diagnostics/finding.ts'
import type { YamlDocument } from '../../documents/yaml-document.ts'
import { bothYamlSpellings, type KeyShape, sameYamlKeys, toSnakeCase } from '../../documents/yaml-keys.ts'

/** The content of a file in the shape of a bundle, with the source path of each part. */
export interface BundleView {
  readonly value: unknown
  /** A path into `value` as a path into the file. */
  readonly origin: (path: readonly PropertyKey[]) => readonly PropertyKey[]
  /** Problems found during the conversion, at paths into `value`. */
  readonly findings: readonly Finding[]
  /** The format cannot declare categories, so those that its tools name are taken to exist. */
  readonly impliesCategories: boolean
}

/** Plain data with named parts. */
export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value of a key, in camelCase or in snake_case. */
export function bundleFieldOf(fields: Fields, name: string): unknown {
  const key = spellingIn(fields, name)
  return key === undefined ? undefined : fields[key]
}

/** The spelling of a key that an object uses, if it has the key. */
export const spellingIn = (fields: Fields, name: string): string | undefined =>
  [name, toSnakeCase(name)].find((key) => Object.hasOwn(fields, key))

/** A view as a document, with positions in the file for either spelling of its keys. */
export function toBundleDocument(document: YamlDocument, view: BundleView): YamlDocument {
  return {
    value: view.value,
    problems: document.problems,
    locate: (path, at) => document.locate(respellBundlePath(document.value, view.origin(path)), at),
  }
}

/** Converts a path of code names to the spelling of the data. */
export function respellBundlePath(root: unknown, path: readonly PropertyKey[]): readonly PropertyKey[] {
  let holder = root
  return path.map((part) => {
    const key = isFields(holder) ? (spellingIn(holder, String(part)) ?? part) : part
    holder = (holder as Record<PropertyKey, unknown> | undefined)?.[key]
    return key
  })
}

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
  keys: bothYamlSpellings(bundleToolFields.join(' ')),
  inside: { examples: { keys: bothYamlSpellings('title description args resultHint') } },
}

/** The keys of a bundle: as on the wire, or in snake_case. */
export const bundleKeys: KeyShape = {
  keys: sameYamlKeys('tooldex categories tools policies toolsets limits sources'),
  inside: {
    categories: { keys: sameYamlKeys('name description parent') },
    tools: toolKeys,
    policies: { keys: sameYamlKeys('name policy'), inside: { policy: policyKeys } },
    toolsets: toolsetKeys,
    limits: limitKeys,
    sources: {
      keys: sameYamlKeys('name trust server'),
      inside: {
        server: { keys: bothYamlSpellings(Object.keys({ ...StdioServer.shape, ...HttpServer.shape }).join(' ')) },
      },
    },
  },
}
