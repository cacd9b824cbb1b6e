import type { RunControls, RunnableTool } from '../../contract/executor.ts'
import type { RunOutcome } from '../../contract/run.ts'
import { toOutcome, toStartError } from '../process/to-outcome.ts'
import type { Level } from '../sandbox/levels.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { type LimitsConfig, limitsFor } from '../sandbox/sandbox-limits.ts'
import { visibleEnv, visibleFolder, visibleProgram } from '../sandbox/visible-program.ts'

/** A command that is ready to be started. */
export interface WalledCommand {
  readonly tool: RunnableTool
  readonly level: Level
  readonly argv: readonly string[]
  /** Absent where nobody named one. */
  readonly cwd: string | undefined
  readonly env: Readonly<Record<string, string>>
  /** The variables that the tool sets itself. */
  readonly declared: readonly string[]
  readonly stdin: string | undefined
  readonly timeoutMs: number
}

/** Runs a command of a config in a sandbox; it sees the programs of the system and the folders that an admin lets it read. */
export async function runWalled(command: WalledCommand, sandbox: Sandbox, controls: RunControls): Promise<RunOutcome> {
  const { tool, argv, stdin, timeoutMs } = command
  const { limits, network } = tool.executorConfig as { limits?: LimitsConfig; network?: boolean }
  try {
    const level = await sandbox.levelFor(tool.name, command.level)
    const folder = visibleFolder(sandbox, level, command.cwd)
    const found = visibleProgram(sandbox, argv[0] ?? '', folder.cwd)
    const place = await sandbox.place({
      level,
      program: found.program,
      argv,
      env: walledEnv(command),
      cwd: folder.cwd,
      limits: limitsFor(tool.name, limits, sandbox.bounds),
      network: sandbox.networkFor(tool.name, network),
      mounts: [...new Map([...folder.mounts, ...found.mounts].map((mount) => [mount.target, mount])).values()],
      withChannel: false,
    })
    const end = await place.run({ stdin, timeoutMs, controls })
    return toOutcome(end, { timeoutMs }, sandbox.limits.outputFactor, level)
  } catch (error) {
    throw toStartError(error, argv[0] ?? '')
  }
}

/** Folders of the machine mean nothing inside. */
function walledEnv({ env, declared, level }: WalledCommand): Record<string, string> {
  const { HOME: _home, TMPDIR: _folder, SHELL: _shell, USER: _user, LOGNAME: _name, ...rest } = env
  const own = Object.fromEntries(declared.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
  return { ...rest, ...visibleEnv(level), ...own }
}
