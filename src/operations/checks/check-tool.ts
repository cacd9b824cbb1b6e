import { BoundedMap } from '../../base/bounded-map.ts'
import { type Problem, toPointer } from '../../base/problem.ts'
import { Semaphore } from '../../base/semaphore.ts'
import { didYouMean } from '../../base/suggest.ts'
import type { ToolAnnotations } from '../../contract/catalog.ts'
import { annotationAliases, annotationNames, toMcpAnnotations } from '../../contract/catalog.ts'
import type { Executor } from '../../contract/executor.ts'
import type { ExecutorKindName, GrantsOf } from '../../contract/executor-kinds.ts'
import type { ToolContent } from '../../contract/registry.ts'
import { hasErrors } from '../../diagnostics/finding.ts'
import { type CheckScriptOptions, executors } from '../../executors/index.ts'
import { SchemaCache } from '../../json-schema/index.ts'
import { checkSchemaText, validateValue } from '../../json-schema/offload/json-work.ts'
import { readSchemaParameters } from '../../json-schema/read-parameters.ts'
import { isOutOfBudget } from '../../json-schema/schema-validator.ts'
import { findUngranted } from '../../policy/index.ts'
import type { Registry } from '../registry/registry.ts'

interface CheckToolOptions extends CheckScriptOptions {
  /** A cache of compiled schemas; without it, each check compiles them again. */
  readonly schemas?: SchemaCache | undefined
  /** Results of script checks by script text; starting Python takes far longer than all other checks. */
  readonly scripts?: Map<string, readonly Problem[]> | undefined
}

const ownNamespace = 'tooldex'

/** All problems of a tool; the store checks whether its category exists. */
export async function checkTool(content: ToolContent, options: CheckToolOptions = {}): Promise<readonly Problem[]> {
  const { inputSchema, outputSchema, executorType, executorConfig } = content
  const { signal } = options
  const input = await checkSchemaText(inputSchema, '/inputSchema', { object: true, signal })
  // A stored tool may have a type of another release.
  if (!Object.hasOwn(executors, executorType)) return [...input, unknownKind(executorType)]
  return [
    ...checkNamespace(content),
    ...input,
    ...(await checkSchemaText(outputSchema, '/outputSchema', { signal })),
    ...executors[executorType].checkConfig(executorConfig, inputSchema, '/executorConfig'),
    ...checkAnnotations(content.annotations),
    ...(await checkScriptOf(content, options)),
    ...(input.length > 0
      ? []
      : [...(await checkDefaults(content, options)), ...(await checkExamples(content, options))]),
  ]
}

const unknownKind = (executorType: string): Problem => ({
  severity: 'error',
  pointer: '/executorType',
  message: `'${executorType}' is not a kind of executor`,
  hint: `choose one of: ${Object.keys(executors).join(', ')}`,
})

/** A tool in this namespace could not be distinguished from a built-in one. */
function checkNamespace({ namespace }: ToolContent): readonly Problem[] {
  if (namespace !== ownNamespace) return []
  const message = `the namespace '${ownNamespace}' is reserved for the built-in tools of Tooldex`
  return [{ severity: 'error', pointer: '/namespace', message, hint: 'choose another namespace, or none' }]
}

async function checkScriptOf(content: ToolContent, options: CheckToolOptions): Promise<readonly Problem[]> {
  const { executorType, scriptContent } = content
  const { checkPythonScript } = executors[executorType]
  const pointer = '/scriptContent'
  if (checkPythonScript === undefined) {
    if (scriptContent === null) return []
    const hint = "leave it out, or choose the executor type 'python'"
    return [{ severity: 'error', pointer, message: `a tool of type '${executorType}' has no script`, hint }]
  }
  if (scriptContent === null) {
    const message = `a tool of type '${executorType}' needs a script`
    return [{ severity: 'error', pointer, message, hint: 'add: def main(arguments):' }]
  }
  const problems = options.scripts?.get(scriptContent) ?? (await checkPythonScript(scriptContent, options))
  remember(options.scripts, scriptContent, problems)
  return problems.map((problem) => ({ ...problem, pointer }))
}

/** Caches results of valid scripts only: a missing or slow Python is temporary. */
function remember(scripts: CheckToolOptions['scripts'], script: string, problems: readonly Problem[]): void {
  if (scripts === undefined || problems.length > 0) return
  scripts.set(script, problems)
}

/** Defaults that do not match their own schema: every call without the parameter would fail. */
async function checkDefaults(
  { inputSchema }: ToolContent,
  { schemas: cache, signal }: CheckToolOptions,
): Promise<readonly Problem[]> {
  const { defaults } = readSchemaParameters(inputSchema)
  if (defaults.size === 0) return []
  const filled = new Map([...defaults].map(([name, { pointer }]) => [toPointer([name]), { name, at: pointer }]))
  const { problems } = await validateValue({ ...inputSchema, required: [] }, {}, { cache, signal })
  return problems.flatMap(({ pointer = '', message }) => {
    const [top = '', rest = ''] = /^(\/[^/]*)(.*)$/s.exec(pointer)?.slice(1) ?? []
    const found = filled.get(top)
    if (found === undefined) return []
    return {
      severity: 'error' as const,
      pointer: `/inputSchema${found.at}${rest}`,
      message: `the default of '${found.name}' does not match its schema: ${message}`,
      hint: 'every call without the parameter would fail; change or remove the default',
    }
  })
}

/** Examples that do not match mislead readers but break nothing, so they are warnings. */
async function checkExamples(
  { examples, inputSchema }: ToolContent,
  { schemas: cache, signal }: CheckToolOptions,
): Promise<readonly Problem[]> {
  const found: Problem[] = []
  for (const [index, { args }] of examples.entries()) {
    if (args === undefined) continue
    const { problems } = await validateValue(inputSchema, args, { cache, signal })
    const pointer = `/examples/${index}/args`
    found.push(
      ...problems.map((problem) => ({
        ...problem,
        severity: 'warning' as const,
        pointer: pointer + (problem.pointer ?? ''),
      })),
    )
    // The next one would take as long, and other requests need the thread.
    if (isOutOfBudget(problems)) break
  }
  return found
}

/** Annotations that clients cannot use: invalid values are errors, unknown names are warnings. */
function checkAnnotations(annotations: ToolAnnotations): readonly Problem[] {
  const entries = Object.entries(toMcpAnnotations(annotations))
  return entries.filter(([key, value]) => !isUsable(key, value)).map(([key, value]) => toProblem(key, value))
}

/** The values of MCP names are validated by the schema of a tool. */
const isUsable = (key: string, value: unknown): boolean =>
  annotationNames.includes(key) && (key !== 'requiresApproval' || typeof value === 'boolean')

function toProblem(key: string, value: unknown): Problem {
  const pointer = toPointer(['annotations', key])
  const name = annotationNames.includes(key) ? key : annotationAliases.get(key)
  if (name === undefined) {
    const meant = didYouMean(key, [...annotationNames, ...annotationAliases.keys()])
    const hint = `the known annotations are: ${annotationNames.join(', ')}`
    return { severity: 'warning', pointer, message: `unknown annotation '${key}'.${meant}`, hint }
  }
  if (typeof value !== 'boolean')
    return { severity: 'error', pointer, message: `${key} must be true or false`, hint: `write "${name}": true` }
  return { severity: 'error', pointer, message: `'${key}' duplicates '${name}'`, hint: 'keep one of them' }
}

/** The executors of a process, and the grants of its workspaces; all if absent. */
interface CheckParts {
  readonly executors?: Partial<Readonly<Record<ExecutorKindName, Executor>>> | undefined
  readonly grantsOf?: GrantsOf | undefined
}

// Each check of a script starts a process, and every caller with the scope read can request one.
const checkers = { slots: 2, waiting: 100 }

/** Creates the check of tools, including the checks of executors outside this process. */
export function createToolCheck({ executors = {}, grantsOf }: CheckParts): Registry['check'] {
  const caches = {
    schemas: new SchemaCache(),
    scripts: new BoundedMap<string, readonly Problem[]>(200),
    turns: new Semaphore(checkers),
  }
  return async (content, { caller, scopes, signal, prepare }) => {
    const found = await checkTool(content, { ...caches, signal })
    const ungranted = grantsOf === undefined ? [] : findUngranted(content, caller.workspace, grantsOf)
    // Parts of the host without a grant are not accessed.
    if (ungranted.length > 0) return [...found, ...ungranted]
    const { executorType, executorConfig } = content
    const executor = executors[executorType]
    if (executor?.check === undefined) return found
    const options = { signal, prepare: prepare === true && !hasErrors(found), mayStart: scopes.has('write') }
    return [...found, ...(await executor.check(executorConfig, '/executorConfig', options))]
  }
}
