import { isObject, type JsonObject, omitKeys } from '../../../base/json-values.ts'
import { OpenApiOptions } from '../../../contract/bundle.ts'
import { registryLimits } from '../../../contract/registry.ts'
import type { Finding } from '../../../diagnostics/finding.ts'
import type { BundleView } from '../bundle-view.ts'
import { checkOpenApiVersion, OpenApiDocument, type OpenApiOperation } from './openapi-document.ts'
import {
  baseUrlOfOperation,
  categoryOf,
  isSelectedOperation,
  namespaceOfDocument,
  OperationNames,
  tagsOf,
} from './operation-texts.ts'
import { toOperationTool } from './operation-tool.ts'

// Paths of findings about the document begin with this, those about a tool with its path in the bundle.
const documentPart = 'document'

/** The tools of an OpenAPI document, with a category for each of its tags. */
export function openApiAsBundle(value: JsonObject, given: OpenApiOptions = {}, isTrusted = false): BundleView {
  const invalid = checkOpenApiVersion(value)
  if (invalid.length > 0) return toView({ findings: invalid.map(inDocument) })
  const { options: own, findings } = readOwnOptions(value, isTrusted)
  const document = new OpenApiDocument(value)
  const namespace = given.namespace ?? own.namespace ?? namespaceOfDocument(document.root)
  const options = { ...own, ...given, namespace }
  const all = document.operations()
  const chosen = all.filter((operation) => isSelectedOperation(operation, options))
  const names = new OperationNames(options.namespace, all)
  const service = titleOf(document.root, options.namespace)
  const read = chosen.map((operation) => {
    const { tool, losses } = toOperationTool(operation, { document, options })
    const [tag] = tagsOf(operation)
    const category = tag === undefined ? service : categoryOf(service, tag)
    return { losses, tool: { name: names.nameOf(operation), ...tool, category } }
  })
  return toView({
    operations: chosen,
    tools: read.map(({ tool }) => tool),
    categories: categoriesOf(document, chosen, service),
    findings: [
      ...findings,
      ...checkSelection(all, chosen),
      ...checkServers(chosen, document, options.baseUrl),
      ...read.flatMap(({ losses, tool }, index) =>
        losses.slice(0, 5).map((loss) => ({
          path: ['tools', index],
          message: `${tool.name}: ${loss}`,
          severity: 'warning' as const,
        })),
      ),
    ],
  })
}

interface ViewParts {
  readonly operations?: readonly OpenApiOperation[]
  readonly tools?: readonly JsonObject[]
  readonly categories?: readonly JsonObject[]
  readonly findings: readonly Finding[]
}

function toView({ operations = [], tools = [], categories = [], findings }: ViewParts): BundleView {
  return {
    value: { tooldex: 1, categories, tools },
    origin([first, index, ...rest]) {
      if (first === documentPart) return [index ?? '', ...rest]
      const operation = first === 'tools' ? operations[Number(index)] : undefined
      return operation === undefined ? ['paths'] : ['paths', operation.path, operation.method]
    },
    findings,
    impliesCategories: false,
  }
}

const inDocument = (finding: Finding): Finding => ({ ...finding, path: [documentPart, ...finding.path] })

const harmless = new Set(['namespace', 'include', 'exclude', 'outputSchemas'])

/** The choices that the document states itself; all of them only in a folder of the user's own files. */
function readOwnOptions(
  value: JsonObject,
  isTrusted: boolean,
): { options: OpenApiOptions; findings: readonly Finding[] } {
  if (value['x-tooldex'] === undefined) return { options: {}, findings: [] }
  const { data, error } = OpenApiOptions.safeParse(value['x-tooldex'])
  const issues = error?.issues ?? []
  // The author of a downloaded document must not choose secrets, private addresses or the state of tools.
  const refused = isTrusted ? [] : Object.keys(data ?? {}).filter((key) => !harmless.has(key))
  return {
    options: omitKeys(data ?? {}, ...refused),
    findings: [
      ...issues.map(({ path, message }) =>
        inDocument({ path: ['x-tooldex', ...path], message: message.toLowerCase(), hint: 'see the guide on OpenAPI' }),
      ),
      ...refused.map((key) =>
        inDocument({
          path: ['x-tooldex', key],
          message: `x-tooldex.${key} is ignored outside of apply`,
          severity: 'warning',
        }),
      ),
    ],
  }
}

/** The name of the service that categories show. */
function titleOf({ info }: JsonObject, namespace: string): string {
  const title = isObject(info) && typeof info.title === 'string' ? info.title.replace(/\s+/g, ' ').trim() : ''
  return (title === '' || title.length > 40 ? namespace : title).slice(0, registryLimits.category)
}

function categoriesOf(
  document: OpenApiDocument,
  chosen: readonly OpenApiOperation[],
  service: string,
): readonly JsonObject[] {
  const used = [...new Set(chosen.flatMap((operation) => tagsOf(operation).slice(0, 1)))]
  const declared = Array.isArray(document.root.tags) ? document.root.tags.filter(isObject) : []
  const descriptions = new Map(declared.map(({ name, description }) => [name, description]))
  const about = isObject(document.root.info) ? document.root.info.description : undefined
  const names = new Map(used.map((tag) => [categoryOf(service, tag), descriptions.get(tag)]))
  names.delete(service)
  return [
    { name: service, description: shortText(about), parent: null },
    ...[...names].map(([name, description]) => ({ name, description: shortText(description), parent: service })),
  ]
}

const shortText = (text: unknown): string | null =>
  typeof text === 'string' && text.trim() !== ''
    ? (text
        .trim()
        .split(/\n\s*\n/)[0]
        ?.slice(0, 500) ?? null)
    : null

function checkSelection(all: readonly OpenApiOperation[], chosen: readonly OpenApiOperation[]): readonly Finding[] {
  if (chosen.length > 0) return []
  const message =
    all.length === 0 ? 'the document has no operations' : `none of its ${all.length} operations is selected`
  const example = all[0]?.operation.operationId ?? all[0]?.path ?? 'tag:users'
  return [
    inDocument({
      path: ['paths'],
      message,
      hint: `check include and exclude; a pattern is for example ${String(example)}`,
    }),
  ]
}

/** A tool needs a complete URL; documents often have relative servers, or none. */
function checkServers(
  chosen: readonly OpenApiOperation[],
  document: OpenApiDocument,
  given: string | undefined,
): readonly Finding[] {
  if (chosen.every((operation) => baseUrlOfOperation(operation, document, given) !== undefined)) return []
  const message = 'the document does not state the URL of the service'
  return [inDocument({ path: ['servers'], message, hint: 'give it with --base-url (baseUrl), or as servers[0].url' })]
}
