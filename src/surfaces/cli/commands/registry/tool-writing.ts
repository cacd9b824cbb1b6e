import type { Command } from 'commander'
import type * as z from 'zod'
import { TooldexError, toTooldexError } from '../../../../base/errors.ts'
import type { Problem } from '../../../../base/problem.ts'
import { toProblemError } from '../../../../diagnostics/problem-error.ts'
import { withoutPeriod } from '../../../../diagnostics/sentences.ts'
import type { Operation } from '../../../../operations/operation.ts'
import { getCategory } from '../../../../operations/registry/categories.ts'
import { proposeChange } from '../../../../operations/registry/proposals.ts'
import * as tools from '../../../../operations/registry/tools.ts'
import { validateDraft, validateTool } from '../../../../operations/registry/validate-tool.ts'
import type { WrittenTool } from '../../../../operations/registry/written-tool.ts'
import type { CliHost, RegistryClient } from '../../host.ts'
import { readToolFile, type ToolFile } from '../../read-tool-file.ts'
import { toJson } from '../command.ts'
import {
  definedOptions,
  findingText,
  printWarnings,
  type RegistryFlags,
  toolStateText,
  type WithWarnings,
  withRegistry,
  withRegistryOptions,
} from './registry-command.ts'

/** The options of commands that write a tool. */
export interface WriteFlags extends RegistryFlags {
  readonly changelog?: string
  readonly expectedVersion?: number
  readonly script?: string
}

interface Writing<Input extends z.ZodType, Output extends z.ZodType<WithWarnings>> {
  readonly file: string
  readonly operation: Operation<Input, Output>
  readonly input: (fields: Readonly<Record<string, unknown>>) => Record<string, unknown>
  readonly text: (answer: z.output<Output>) => string
  /** A second step in the same registry session. */
  readonly after?: ((registry: RegistryClient, answer: z.output<Output>) => Promise<z.output<Output>>) | undefined
}

interface FileOperation<Input extends z.ZodType, Output extends z.ZodType> {
  readonly file: ToolFile
  readonly operation: Operation<Input, Output>
  readonly input: (fields: Readonly<Record<string, unknown>>) => Record<string, unknown>
  readonly after?: ((registry: RegistryClient, answer: z.output<Output>) => Promise<z.output<Output>>) | undefined
}

/** Writes a tool with the fields in a file; problems are reported with their lines. */
export async function writeTool<Input extends z.ZodType, Output extends z.ZodType<WithWarnings>>(
  host: CliHost,
  flags: RegistryFlags & { readonly script?: string },
  { file: path, operation, input, text, after }: Writing<Input, Output>,
): Promise<void> {
  const file = readToolFile(path, flags.script)
  const answer = await invokeWithFile(host, flags, { file, operation, input, after })
  host.out(flags.json ? toJson(answer) : text(answer))
  printWarnings(host, answer, file.place)
}

async function invokeWithFile<Input extends z.ZodType, Output extends z.ZodType>(
  host: CliHost,
  flags: RegistryFlags,
  { file: { fields, explain, scriptProblem }, operation, input, after }: FileOperation<Input, Output>,
): Promise<z.output<Output>> {
  return withRegistry(host, flags, async (registry) => {
    try {
      if (scriptProblem !== undefined) {
        // A change may contain only some fields, which cannot be validated as a tool.
        const others = operation.subject === 'tool' ? await findProblems(registry, fields) : []
        throw rejectWithoutScript(scriptProblem, others)
      }
      const answer = await registry.invoke(operation, input(await withCategory(registry, fields)))
      return after === undefined ? answer : await after(registry, answer)
    } catch (thrown) {
      throw explain(thrown)
    }
  })
}

/** The error for a tool whose script cannot be read, with the other problems of the tool. */
function rejectWithoutScript(scriptProblem: Problem, others: readonly Problem[]): TooldexError {
  const errors = others.filter(({ severity, pointer }) => severity === 'error' && pointer !== '/scriptContent')
  return toProblemError({ code: 'TOOL_INVALID', what: 'The tool', problems: [scriptProblem, ...errors] })
}

async function findProblems(
  registry: RegistryClient,
  fields: Readonly<Record<string, unknown>>,
): Promise<readonly Problem[]> {
  try {
    const { problems } = await registry.invoke(validateDraft, { ...(await withCategory(registry, fields)) })
    return problems as readonly Problem[]
  } catch (thrown) {
    const { code, message, problems, hint } = toTooldexError(thrown)
    if (problems.length > 0) return problems
    if (code !== 'NOT_FOUND') throw thrown
    return [{ severity: 'error', pointer: '/category', message, hint }]
  }
}

/** Activates a newly registered tool; if that fails, the draft stays and the error names it. */
async function activate(registry: RegistryClient, { id, name }: WrittenTool): Promise<WrittenTool> {
  try {
    return await registry.invoke(tools.activateTool, { idOrName: id })
  } catch (thrown) {
    const { code, message, problems, personHint } = toTooldexError(thrown)
    // An edit fixes problems of the tool only; other errors, such as missing packages, have their own next step.
    const first = code === 'TOOL_INVALID' ? `Fix it with: tooldex tools edit ${name}` : withoutPeriod(personHint)
    throw new TooldexError(code, `${name} is registered as a draft and was not activated: ${message}`, {
      problems,
      hint: `${first}; then run: tooldex tools activate ${name}`,
      cause: thrown,
    })
  }
}

/** Replaces the name of a category by its id. */
export async function withCategory(registry: RegistryClient, fields: Readonly<Record<string, unknown>>) {
  const { category, ...rest } = fields
  if (typeof category !== 'string') return category === undefined ? fields : { ...rest, categoryId: category }
  const { id } = await registry.invoke(getCategory, { idOrName: category })
  return { ...rest, categoryId: id }
}

/** `tooldex tools create` and `validate`. */
export function addWriteCommands(group: Command, host: CliHost, exit: (code: number) => void): void {
  const create = group
    .command('create <file>')
    .description('register the tool in a YAML or JSON file (- for standard input)')
    .option('--changelog <text>', 'description of the change')
    .option('--script <file>', 'file with the script of the tool; same as scriptFile in the file')
    .option('--activate', 'activate the tool after registration')
  withRegistryOptions(create).action((file: string, flags: WriteFlags & { activate?: boolean }) =>
    writeTool(host, flags, {
      file,
      operation: tools.createTool,
      input: (fields) => ({ ...fields, ...definedOptions({ changelog: flags.changelog }) }),
      text: toolStateText,
      after: flags.activate ? activate : undefined,
    }),
  )
  addValidate(group, host, exit)
}

/** `tooldex tools propose`. */
export function addPropose(group: Command, host: CliHost): void {
  const propose = group
    .command('propose <tool> <file>')
    .description('propose a change by a YAML or JSON file (- for standard input), without applying it')
    .option('--reason <text>', 'reason of the proposal')
    .option('--changelog <text>', 'changelog of the new version')
    .option('--script <file>', 'file with the script of the tool')
  withRegistryOptions(propose).action((idOrName: string, file: string, flags: WriteFlags & { reason?: string }) =>
    writeTool(host, flags, {
      file,
      operation: proposeChange,
      input: (change) => ({
        idOrName,
        change,
        ...definedOptions({ reason: flags.reason, changelog: flags.changelog }),
      }),
      text: ({ id, diff }) => `proposal ${id}: ${diff?.class ?? 'none'}, ${diff?.fields.length ?? 0} field(s)\n`,
    }),
  )
}

function addValidate(group: Command, host: CliHost, exit: (code: number) => void): void {
  const command = group
    .command('validate <tool>')
    .description('validate a tool, or with --file a file')
    .option('--file', 'validate a file instead of a registered tool')
    .option('--script <file>', 'file with the script of the tool')
  withRegistryOptions(command).action(async (toolOrFile: string, flags: WriteFlags & { file?: boolean }) => {
    const file = flags.file ? readToolFile(toolOrFile, flags.script) : undefined
    const answer =
      file === undefined
        ? await withRegistry(host, flags, (registry) => registry.invoke(validateTool, { idOrName: toolOrFile }))
        : await invokeWithFile(host, flags, { file, operation: validateDraft, input: (fields) => ({ ...fields }) })
    const problems = answer.problems as readonly Problem[]
    host.out(flags.json ? toJson(answer) : validationText(answer.valid, file ? problems.map(file.place) : problems))
    if (!answer.valid) exit(2)
  })
}

const validationText = (valid: boolean, problems: readonly Problem[]): string =>
  `${problems.map(findingText).join('')}${valid ? 'valid' : 'not valid'}\n`
