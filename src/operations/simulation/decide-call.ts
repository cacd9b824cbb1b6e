import { BoundedMap } from '../../base/bounded-map.ts'
import { toTooldexError } from '../../base/errors.ts'
import { isObject, type JsonObject } from '../../base/json-values.ts'
import { fromPointer } from '../../base/problem.ts'
import type { StoredPolicy } from '../../contract/bundle.ts'
import type { RunnableTool } from '../../contract/executor.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import type { PastCall } from '../../contract/run-history.ts'
import type { NamedRule } from '../../rules/toolset-rules.ts'
import { previewValue } from '../../runs/preview.ts'
import { findUnregistered, toolInVersion } from '../catalog/resolve-name.ts'
import type { OperationContext } from '../operation.ts'
import { bindConfigTool, bindRegisteredTool, fileApproval, rulesByPolicy } from '../runs/resolve-call.ts'

/** The outcomes of a call under policies, from the mildest to the strictest; `undecided` where the tool is gone or has changed. */
export const outcomes = ['pass', 'approval', 'bounded', 'blocked', 'undecided'] as const
export type Outcome = (typeof outcomes)[number]

/** The outcome of a recorded call under policies, with its cause. */
export interface Decision {
  readonly outcome: Outcome
  readonly message?: string
  /** The argument out of bounds, and its recorded value. */
  readonly argument?: string
  readonly value?: unknown
}

/** The tool of a recorded call, as it can be called now. */
type Target =
  | { readonly name: string; readonly called: RegisteredTool; readonly latest: RegisteredTool }
  | { readonly name: string; readonly entry: RunnableTool }
  | { readonly name: string; readonly missing: string }

/** A recorded call and its tool. */
export interface FoundCall {
  readonly call: PastCall
  readonly target: Target
}

type Context = OperationContext<'catalog' | 'registry' | 'runner'>

const maxRemembered = 1000
/** A longer input is not parsed on the main thread. */
const maxInputCharacters = 2_000_000

/** Decides recorded calls under a set of policies, by the rules of real calls. */
export class CallDecider {
  readonly #context: Context
  readonly #policies: readonly StoredPolicy[]
  readonly #rules = new BoundedMap<string, ReturnType<typeof rulesByPolicy>>(maxRemembered)

  constructor(context: Context, policies: readonly StoredPolicy[]) {
    this.#context = context
    this.#policies = policies
  }

  /** Whether the input of a call decides. */
  needsInput({ call, target }: FoundCall): boolean {
    const { rules, hiddenBy } = this.#rulesOn(call, target)
    return hiddenBy.length === 0 && rules.some(({ args }) => Object.keys(args).length > 0)
  }

  async decide({ call, target }: FoundCall, input: string | undefined): Promise<Decision> {
    const { rules, hiddenBy } = this.#rulesOn(call, target)
    if (hiddenBy.length > 0) return { outcome: 'blocked', message: `Hidden by ${hiddenBy.join(', ')}.` }
    const isBounded = this.needsInput({ call, target })
    if ('missing' in target)
      return isBounded ? { outcome: 'undecided', message: target.missing } : approvalOf(approvalRules(rules))
    try {
      const { tool, approvalBy } =
        'entry' in target
          ? bindConfigTool(target.entry, [...rules, ...this.#fileApproval(target)])
          : bindRegisteredTool(target.called, target.latest, rules)
      return (isBounded ? await this.#findViolation(tool, input) : undefined) ?? approvalOf(approvalBy)
    } catch (thrown) {
      const { code, message } = toTooldexError(thrown)
      return { outcome: code === 'POLICY_REFUSED' ? 'blocked' : 'undecided', message }
    }
  }

  async #findViolation(tool: RunnableTool, text: string | undefined): Promise<Decision | undefined> {
    if (text === undefined || text.length > maxInputCharacters)
      return { outcome: 'undecided', message: 'The recorded input is too large, or was deleted meanwhile.' }
    const input = JSON.parse(text) as JsonObject
    try {
      await this.#context.runner.prepare(tool, input, { workspace: this.#context.caller.workspace })
      return undefined
    } catch (thrown) {
      const { code, message, problems } = toTooldexError(thrown)
      const [problem] = problems
      if (code !== 'POLICY_REFUSED' || problem === undefined) return { outcome: 'undecided', message }
      const [argument = ''] = fromPointer(problem.pointer ?? '')
      const value = isObject(input) && Object.hasOwn(input, argument) ? input[argument] : undefined
      const shown = value === undefined ? {} : { value: previewValue(value, maxValueBytes) }
      return { outcome: 'bounded', message: `${problem.message}.`, argument, ...shown }
    }
  }

  #fileApproval(target: Target) {
    return isUnderFile(target) ? fileApproval(this.#context.catalog, target.name) : []
  }

  /** The policy file binds tools like a stored policy, except those of configs, which were loaded under it. */
  #rulesOn({ callerId: actor, callerGroups: groups }: PastCall, target: Target) {
    const file = isUnderFile(target) ? undefined : this.#context.catalog.filePolicy()
    const key = JSON.stringify([actor, groups, file !== undefined])
    const policies = file === undefined ? this.#policies : [...this.#policies, { name: 'file', policy: file }]
    return this.#rules.take(key, () => rulesByPolicy(policies, { actor, groups: groups ?? [] }))(target.name)
  }
}

const isUnderFile = (target: Target): boolean => 'entry' in target && target.entry.resolved !== undefined

const maxValueBytes = 200

const approvalRules = (rules: readonly NamedRule[]): readonly string[] =>
  rules.flatMap(({ requireApproval, of }) => (requireApproval === true ? [of] : []))

const approvalOf = (by: readonly string[]): Decision =>
  by.length === 0 ? { outcome: 'pass' } : { outcome: 'approval', message: `Required by ${by.join(', ')}.` }

/** Finds the tools of recorded calls, under their current names: rules follow a renamed tool. */
export class TargetFinder {
  readonly #context: Context
  readonly #found = new BoundedMap<string, Promise<Target>>(maxRemembered)

  constructor(context: Context) {
    this.#context = context
  }

  find(call: PastCall): Promise<Target> {
    const key = JSON.stringify([call.toolId, call.toolName, call.version])
    return this.#found.take(key, () => this.#read(call))
  }

  async #read({ toolId, toolName: name, version }: PastCall): Promise<Target> {
    const { catalog, registry, caller } = this.#context
    if (version === null) {
      const entry = findUnregistered(await catalog.open(), name)?.runnable
      return entry === undefined ? { name, missing: `No config has ${name} any more.` } : { name, entry }
    }
    const latest = toolId === null ? undefined : await registry.stores.tools.get(caller.workspace, toolId)
    if (latest === undefined) return { name, missing: `${name} was deleted.` }
    return { name: latest.name, latest, called: await toolInVersion(this.#context, latest, version) }
  }
}
