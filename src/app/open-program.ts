import * as z from 'zod'
import type { FunctionTool } from '../contract/executor.ts'
import type { SecretBox } from '../contract/secret.ts'
import { toProblem } from '../diagnostics/finding.ts'
import { toProblemError } from '../diagnostics/problem-error.ts'
import { describeShapeProblems } from '../diagnostics/shape-problems.ts'
import { describedParse } from '../diagnostics/zod-issues.ts'
import { createCodeExecutor, createMcpExecutor } from '../executors/index.ts'
import { createLocalClient, type RegistryClient } from '../operations/registry-client/registry-client.ts'
import { processEnv } from '../rules/settings.ts'
import { createRedactor, openSecrets } from '../secrets/index.ts'
import { composeProcess } from './compose.ts'
import type { ProgramParts } from './open-own-registry.ts'

/** The parts of a program, with its functions instead of their executor. */
interface OpenedParts extends Omit<ProgramParts, 'code'> {
  readonly functions: ReadonlyMap<string, FunctionTool>
}

interface OpenProgramOptions {
  /** The environment that names the database; nothing is stored without it. */
  readonly env: NodeJS.ProcessEnv | undefined
  /** Whether programs may run. */
  readonly codeMode?: boolean | undefined
  readonly signal: AbortSignal
  /** How long the end of running calls is awaited. */
  readonly drainMs: number
}

/** Opens the tools of a program, with those registered in its database if it has one. */
export async function openProgram(
  { functions, ...parts }: OpenedParts,
  { env, ...options }: OpenProgramOptions,
): Promise<RegistryClient> {
  const program = { ...parts, code: createCodeExecutor(functions) }
  if (env === undefined) return openUnrecorded(program, options)
  const { signal, codeMode } = options
  const { openOwnRegistry } = await import('./open-own-registry.ts')
  return openOwnRegistry(signal, { env, follow: true, codeMode, program })
}

/** Without a database, calls are not recorded, and nothing is written to TOOLDEX_HOME. */
async function openUnrecorded(
  program: ProgramParts,
  { codeMode, signal, drainMs }: Omit<OpenProgramOptions, 'env'>,
): Promise<RegistryClient> {
  const { configs, servers, code, label: _label, show, ...more } = program
  const secrets = openSecrets({ env: processEnv, box: noBox, find: async () => undefined }, 'default')
  const redactorFor = (declared: Readonly<Record<string, string>>) => createRedactor(declared, processEnv)
  const mcp = createMcpExecutor({ servers, env: processEnv, secrets, redactorFor })
  const context = composeProcess({ configs, codeMode }, { ...more, executors: { code, mcp }, keepsNothing: true })
  await show(context.catalog, mcp.upstreams)
  return { ...createLocalClient({ ...context, signal }), close: () => context.runner.close(drainMs) }
}

const noBox: SecretBox = {
  seal: () => {
    throw new Error('There is no database for secrets.')
  },
  open: (sealed) => sealed,
  prepare: async () => {},
}

const content = z.looseObject({})

/** The shape of the options of a catalog; the parts are validated where they are read. */
const Options = z.strictObject({
  configs: z.array(z.union([z.string(), content])).optional(),
  servers: z.record(z.string(), z.unknown()).optional(),
  functions: z.array(z.unknown()).optional(),
  database: z
    .union([z.strictObject({ url: z.string().min(1) }), z.strictObject({ home: z.string().min(1) })])
    .optional(),
  policy: z.union([z.string(), content]).optional(),
  codeMode: z.boolean().optional(),
  log: z.custom((value) => typeof value === 'function', 'must be a function').optional(),
})

/** Rejects options that programs without types may pass, instead of ignoring them. */
export function checkOptions(options: unknown): void {
  const parsed = Options.safeParse(options, describedParse)
  if (parsed.success) return
  const problems = parsed.error.issues
    .flatMap((issue) => describeShapeProblems(Options, issue))
    .map((each) => toProblem(each))
  const hint = 'See docs/guides/library.md for the options.'
  throw toProblemError({
    code: 'INPUT_INVALID',
    what: 'The options of createTooldex',
    problems,
    maxInMessage: 10,
    hint,
  })
}
