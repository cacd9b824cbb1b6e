import { existsSync } from 'node:fs'
import { Semaphore } from '../../src/base/semaphore.ts'
import type { CliConfigInput } from '../../src/contract/cli-config.ts'
import type { RunControls } from '../../src/contract/executor.ts'
import type { RunOutcome } from '../../src/contract/run.ts'
import type { ResolvedTool } from '../../src/contract/tool-index.ts'
import { type CliExecutorOptions, createCliExecutor } from '../../src/executors/cli/cli-executor.ts'
import { type Containment, detectContainment } from '../../src/executors/process/containment.ts'
import { createProcessGroups } from '../../src/executors/process/process-group.ts'
import { checkBoundValues } from '../../src/policy/index.ts'
import { fromConfig } from '../../src/rules/runnable-tool.ts'
import { createRunner, type Runner } from '../../src/runs/create-runner.ts'
import { ToolIndex } from '../../src/search/index.ts'
import { createRedactor } from '../../src/secrets/redact-values.ts'
import { needs } from '../support/needs.ts'

/** A tool without a config around it: its command is the config's. */
export type ToolInput = Omit<CliConfigInput, 'tools'> & { tool?: Partial<CliConfigInput['tools'][number]> }

interface RunSettings extends Partial<CliExecutorOptions> {
  readonly given?: Readonly<Record<string, unknown>>
  readonly controls?: RunControls
}

const strongest = detectContainment()

/** The ways of keeping processes together, each with a test function that skips where the machine does not have it. */
export const containments: readonly {
  kind: Containment['kind']
  containment: Containment
  it: ReturnType<typeof needs>
}[] = [
  {
    kind: 'pid-namespace',
    containment: strongest,
    it: needs(strongest.kind === 'pid-namespace', 'needs root on Linux, unshare and nsenter'),
  },
  {
    kind: 'process-group',
    containment: createProcessGroups(),
    it: needs(process.platform === 'linux', 'leftovers are looked for in /proc'),
  },
]

/** Where the kernel counts processes for us, and root may tell it to. */
export const hasPidsCgroup = process.geteuid?.() === 0 && existsSync('/sys/fs/cgroup/pids/cgroup.procs')

/** The tool `t` as the catalog would resolve it. */
export function resolveTool({ tool, ...config }: ToolInput): ResolvedTool {
  const index = ToolIndex.fromConfigs([{ ...config, tools: [{ name: 't', description: 'a test tool', ...tool }] }])
  return index.get('t') as ResolvedTool
}

/** A runner joined from the same parts as the product's own. */
export function createTestRunner(settings: Partial<CliExecutorOptions> = {}): Runner {
  const env = settings.env ?? process.env
  return createRunner({
    executors: { cli: createCliExecutor({ env, scope: 'user', limited: ['*'], ...settings }) },
    slots: new Semaphore({ slots: 8, waiting: 256 }),
    checkBoundValues,
    redactorFor: (tool) => createRedactor(tool.resolved?.env ?? {}, env),
  })
}

/** Runs one tool once. */
export function runTool(
  input: ToolInput,
  { given = {}, controls = {}, ...settings }: RunSettings = {},
): Promise<RunOutcome> {
  return createTestRunner(settings).run(fromConfig(resolveTool(input)), given, controls)
}
