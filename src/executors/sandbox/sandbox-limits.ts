import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import { readSetting } from '../../rules/settings.ts'

/** The limits that a tool may set; the others have defaults. */
export const LimitsConfig = z.strictObject({
  /** Per process, and in total if the machine can count it. */
  memoryMb: z.int().min(16).max(1_048_576).optional(),
  /** CPU time, without waiting. */
  cpuSeconds: z.int().min(1).max(3600).optional(),
  /** Concurrent processes and threads. */
  processes: z.int().min(1).max(10_000).optional(),
  /** The maximum size of a file, and of the work folder in total. */
  fileMb: z.int().min(1).max(1_048_576).optional(),
  openFiles: z.int().min(16).max(100_000).optional(),
})
export type LimitsConfig = z.infer<typeof LimitsConfig>

/** The limits of one run. */
export type SandboxLimits = Readonly<Required<{ [Key in keyof LimitsConfig]: number }>>

export const defaultSandboxLimits: SandboxLimits = {
  memoryMb: 512,
  cpuSeconds: 60,
  processes: 64,
  fileMb: 256,
  openFiles: 256,
}

/** The settings of the maximum limits of any tool. */
const variables = {
  memoryMb: 'TOOLDEX_MAX_MEMORY_MB',
  cpuSeconds: 'TOOLDEX_MAX_CPU_SECONDS',
  processes: 'TOOLDEX_MAX_PROCESSES',
  fileMb: 'TOOLDEX_MAX_FILE_MB',
  openFiles: 'TOOLDEX_MAX_OPEN_FILES',
} as const
const names = Object.keys(variables) as (keyof SandboxLimits)[]

/** The bounds that the environment of the server sets. */
export function readSandboxLimits(env: Environment): SandboxLimits {
  const bounds = { ...defaultSandboxLimits }
  for (const name of names) bounds[name] = readSetting(variables[name], env)
  return bounds
}

const defaultBounds = readSandboxLimits({})

/** The limits of a run; throws if its tool requests more than the operator allows. */
export function limitsForSandbox(
  tool: string,
  requested: LimitsConfig = {},
  bounds: SandboxLimits = defaultBounds,
): SandboxLimits {
  const limits = { ...defaultSandboxLimits }
  for (const name of names) {
    const wanted = requested[name]
    if (wanted !== undefined && wanted > bounds[name])
      throw new TooldexError('POLICY_REFUSED', `${tool} requests ${name} ${wanted}; the maximum is ${bounds[name]}.`, {
        hint: `Lower the limit of the tool, or let the operator raise ${variables[name]}.`,
      })
    limits[name] = Math.min(wanted ?? limits[name], bounds[name])
  }
  return limits
}

const mebibyte = 1024 ** 2

/** The arguments of `prlimit` that apply the limits to a program. */
export function prlimitArguments(limits: SandboxLimits, processes: number | undefined): readonly string[] {
  const { memoryMb, cpuSeconds, fileMb, openFiles } = limits
  return [
    `--as=${memoryMb * mebibyte}`,
    // SIGKILL follows SIGXCPU after a second.
    `--cpu=${cpuSeconds}:${cpuSeconds + 1}`,
    ...(processes === undefined ? [] : [`--nproc=${processes}`]),
    `--fsize=${fileMb * mebibyte}`,
    `--nofile=${openFiles}`,
    '--core=0',
    '--',
  ]
}
