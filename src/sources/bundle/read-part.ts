import { type TooldexError, toTooldexError } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import { Bundle, bundleLimits, type OpenApiOptions, splitHint } from '../../contract/bundle.ts'
import { limitMeasures } from '../../contract/policy.ts'
import type { Finding } from '../../diagnostics/finding.ts'
import { findLostKeys } from '../../diagnostics/plain-input.ts'
import { toProblemError } from '../../diagnostics/problem-error.ts'
import { parseJsonOrYaml } from '../../documents/json-document.ts'
import { validateYamlDocument } from '../../documents/typed-yaml.ts'
import type { YamlDocument } from '../../documents/yaml-document.ts'
import {
  type BundleView,
  bundleFieldOf,
  bundleKeys,
  bundleToolFields,
  type Fields,
  isFields,
  spellingIn,
  toBundleDocument,
} from './bundle-view.ts'
import { checkBundleRules } from './check-content.ts'
import { isForeign, toolListAsBundle } from './foreign-tool.ts'
import { cliConfigAsBundle } from './view-cli-config.ts'

/** The content of one file, before it is checked against the others. */
export interface BundlePart {
  readonly file: string
  readonly text: string
  readonly format: BundleFormat
  /** The valid part. */
  readonly bundle: Bundle
  /** Errors and warnings. */
  readonly problems: readonly Problem[]
  /** Paths of invalid values. */
  readonly wrong: readonly (readonly PropertyKey[])[]
  readonly impliesCategories: boolean
  /** The position of a part of the bundle in the file. */
  locate(path: readonly PropertyKey[]): { line: number; column: number }
  /** The same position as text. */
  show(path: readonly PropertyKey[]): string
}

/** One file before its problems are collected. */
type UnjudgedPart = Omit<BundlePart, 'problems' | 'wrong'>

/** Options for reading one file. */
interface PartOptions {
  readonly file: string
  readonly format?: BundleFormat | undefined
  readonly readScript?: ReadScript | undefined
  /** The reader of OpenAPI documents, loaded where there may be one (`loadOpenApiReader`). */
  readonly openApi?: ReadOpenApi | undefined
  /** Checks across parts, besides those of each part. */
  readonly check?: (part: UnjudgedPart) => readonly Finding[]
}

/** Converts an OpenAPI document. */
export type ReadOpenApi = (value: Fields) => BundleView

/** The reader of OpenAPI documents, if a text may be one. */
export async function loadOpenApiReader(
  text: string,
  options?: OpenApiOptions,
  isTrusted = false,
): Promise<ReadOpenApi | undefined> {
  if (!mayBeOpenApi(text)) return undefined
  const { openApiAsBundle } = await import('./openapi/openapi-as-bundle.ts')
  return (value) => openApiAsBundle(value, options, isTrusted)
}

/** Reads one text of any supported format and collects its problems; throws only if nothing of it can be used. */
export function readBundlePart(text: string, options: PartOptions): BundlePart {
  const { file } = options
  const maxBytes = bundleLimits[options.openApi === undefined ? 'bytes' : 'documentBytes']
  if (Buffer.byteLength(text) > maxBytes) throw refuse(file, [atStart(file, tooLarge(maxBytes))])
  const document = parseJsonOrYaml(text.replace(/^\ufeff/, ''), file)
  const format = document.problems.length > 0 ? 'bundle' : (options.format ?? detectFormat(document.value))
  if (format === undefined) throw refuse(file, [atStart(file, unknownFormat)])
  const view = document.problems.length > 0 ? wholeBundle(undefined) : toView(document, options, format)
  const { value, findings } = fillScripts(view.value, options.readScript)
  const viewed = toBundleDocument(document, { ...view, value })
  const known = {
    file,
    text,
    format,
    impliesCategories: view.impliesCategories,
    locate: (path: readonly PropertyKey[]) => viewed.locate(path),
    show(path: readonly PropertyKey[]) {
      const { line, column } = viewed.locate(path)
      return `${file}:${line}:${column}`
    },
  }
  const found = [...view.findings, ...findings, ...findLostKeys(value)]
  const check = (bundle: Bundle) => [
    ...found,
    ...checkBundleRules(bundle),
    ...(options.check?.({ ...known, bundle }) ?? []),
  ]
  // Messages about a file with a single entry do not mention a list.
  const isSingle = format === 'tool' || format === 'policy' || format === 'toolset' || format === 'limit'
  const shown = isSingle ? { shown: view.origin } : {}
  const {
    value: bundle,
    problems,
    wrong,
  } = validateYamlDocument(viewed, file, { ...bundleKind, ...shown, check }, true)
  if (bundle === undefined) throw refuse(file, problems)
  return { ...known, bundle, problems, wrong }
}

const bundleKind = {
  schema: Bundle,
  keys: bundleKeys,
  code: 'BUNDLE_INVALID',
  needs: "'tooldex: 1' and 'tools'",
} as const

function toView(document: YamlDocument, { file, openApi }: PartOptions, format: BundleFormat): BundleView {
  const { value } = document
  const fields: Fields = isFields(value) ? value : {}
  if (format === 'openapi' && openApi !== undefined) return openApi(fields)
  if (format === 'cli') return cliConfigAsBundle(document, file)
  if (format === 'list') return toolListAsBundle(value)
  if (format === 'categories') return categoriesAsBundle(value)
  if (format === 'policy') return policyAsBundle(fields, file)
  if (format === 'toolset') return namedAsBundle('toolsets', fields, file)
  if (format === 'limit') return namedAsBundle('limits', fields, file)
  if (format === 'bundle') return wholeBundle(value)
  if (!isForeign(fields) || !isWholeTool(fields)) return toolAsBundle(fields)
  const list = toolListAsBundle([value])
  return { ...list, origin: (path) => list.origin(path).slice(1) }
}

const tooLarge = (maxBytes: number) => ({
  message: `is larger than ${maxBytes} bytes, the limit for a bundle`,
  hint: splitHint,
})
const unknownFormat = {
  message: 'does not contain tools, categories, a policy, a toolset or a limit',
  hint: "a bundle begins with 'tooldex: 1', a tool has 'name', 'displayName', 'description' and 'inputSchema', a CLI config has 'command' and 'tools', an OpenAPI document 'openapi' and 'paths', a list of tools is a list",
}

const atStart = (file: string, { message, hint }: { message: string; hint: string }): Problem => ({
  severity: 'error',
  file,
  line: 1,
  column: 1,
  message: `the file ${message}`,
  hint,
})

const refuse = (file: string, problems: readonly Problem[]): TooldexError =>
  toProblemError({ code: 'BUNDLE_INVALID', what: file, problems })

/** A file in bundle format. */
const wholeBundle = (value: unknown): BundleView => ({
  value,
  origin: (path) => path,
  findings: [],
  impliesCategories: false,
})

/** A file with one tool in bundle format. */
const toolAsBundle = (tool: Fields): BundleView => ({
  ...wholeBundle({ tooldex: 1, tools: [tool] }),
  origin: (path) => path.slice(2),
})

/** A file with categories only: an array, or an object with such an array. */
const categoriesAsBundle = (value: unknown): BundleView => ({
  ...wholeBundle({ tooldex: 1, categories: isFields(value) ? value.categories : value }),
  origin: (path) => (isFields(value) ? path : path.slice(1)),
})

/** A file with one policy, named after the file. */
const policyAsBundle = (policy: Fields, file: string): BundleView => ({
  ...wholeBundle({ tooldex: 1, policies: [{ name: nameOf(file), policy }] }),
  origin: (path) => path.slice(3),
})

/** A file with one toolset or limit, named after the file where it has no name. */
const namedAsBundle = (kind: 'toolsets' | 'limits', fields: Fields, file: string): BundleView => ({
  ...wholeBundle({ tooldex: 1, [kind]: [{ name: nameOf(file), ...fields }] }),
  origin: (path) => path.slice(2),
})

const nameOf = (file: string) => {
  const name = file.replace(/^.*[\\/]/s, '').replace(/\.(?:ya?ml|json)$/i, '')
  return name.replace(/[.-](?:policy|toolset|limit)$/, '')
}

/** Reads the file that a tool names as its script. */
type ReadScript = (path: string) => string

interface Filled<T> {
  readonly value: T
  readonly findings: readonly Finding[]
}

/** Replaces each `scriptFile` by the content of that file. */
function fillScripts(value: unknown, readScript: ReadScript | undefined): Filled<unknown> {
  if (!isFields(value) || !Array.isArray(value.tools)) return { value, findings: [] }
  const filled = value.tools.map((tool: unknown) =>
    isFields(tool) ? fill(tool, readScript) : { value: tool, findings: [] },
  )
  const findings = filled.flatMap((tool, index) =>
    tool.findings.map((found) => ({ ...found, path: ['tools', index, ...found.path] })),
  )
  return { value: { ...value, tools: filled.map((tool) => tool.value) }, findings }
}

function fill(tool: Fields, readScript: ReadScript | undefined): Filled<Fields> {
  const key = spellingIn(tool, 'scriptFile')
  if (key === undefined) return { value: tool, findings: [] }
  const { [key]: path, ...value } = tool
  const wrong = (message: string, hint: string) => ({ value, findings: [{ path: ['scriptFile'], message, hint }] })
  if (typeof path !== 'string') return wrong('scriptFile must be a path', 'write ./name.py')
  if (bundleFieldOf(tool, 'scriptContent') !== undefined)
    return wrong('the tool has a scriptFile and a scriptContent', 'keep one of them')
  if (readScript === undefined)
    return wrong('scriptFile is known only where a folder is read', 'put the text into scriptContent')
  try {
    return { value: { ...value, scriptContent: readScript(path) }, findings: [] }
  } catch (thrown) {
    const { message, hint } = toTooldexError(thrown)
    return wrong(`scriptFile: ${message}`, hint)
  }
}

/** The formats of files that a registry can import. */
export type BundleFormat =
  | 'bundle'
  | 'cli'
  | 'list'
  | 'tool'
  | 'categories'
  | 'policy'
  | 'toolset'
  | 'limit'
  | 'openapi'

/** Detects the format of a file by its keys; undefined if it is unknown. */
function detectFormat(value: unknown): BundleFormat | undefined {
  if (Array.isArray(value)) return value.length > 0 && value.every(isCategory) ? 'categories' : 'list'
  if (!isFields(value)) return undefined
  const has = (name: string) => bundleFieldOf(value, name) !== undefined
  if (has('tooldex')) return 'bundle'
  if (has('openapi') || has('swagger')) return 'openapi'
  if (has('command')) return 'cli'
  if (isWholeTool(value)) return 'tool'
  if (isFields(value.result) && Array.isArray(value.result.tools)) return 'list'
  const isBundle = has('policies') || has('toolsets') || has('limits') || has('sources')
  if (Array.isArray(value.tools)) return has('categories') || isBundle ? 'bundle' : 'list'
  if (has('categories')) return isBundle ? 'bundle' : 'categories'
  if (isBundle) return 'bundle'
  if (has('filter') || has('codeMode') || has('pinned')) return 'toolset'
  if (limitMeasures.some(has)) return 'limit'
  if (has('default') || has('executor') || isFields(value.tools)) return 'policy'
  return isPartOfTool(value) ? 'tool' : undefined
}

/** Whether a text may be an OpenAPI document, whose reader is loaded only then. */
const mayBeOpenApi = (text: string): boolean => /(?:^|[\s{,])["']?(?:openapi|swagger)["']?\s*:/.test(text)

/** Keys that identify an incomplete tool, so that its missing fields are reported. */
const isPartOfTool = (value: Fields) =>
  Object.hasOwn(value, 'name') &&
  [...bundleToolFields, 'scriptFile'].some((key) => key !== 'name' && bundleFieldOf(value, key) !== undefined)

/** Whether an object is a tool, in any format. */
const isWholeTool = (value: Fields): boolean =>
  isFields(value.function) || (Object.hasOwn(value, 'name') && hasSchema(value))

const hasSchema = (value: Fields) =>
  ['inputSchema', 'parameters', 'displayName'].some((name) => bundleFieldOf(value, name) !== undefined)

const isCategory = (value: unknown) =>
  isFields(value) && Object.keys(value).every((key) => ['name', 'description', 'parent'].includes(key))
