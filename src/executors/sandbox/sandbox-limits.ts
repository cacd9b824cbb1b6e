import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import { type NumberSettingName, readNumberSetting } from '../../base/number-settings.ts'

/** What a tool may ask for; what it leaves out has a default. */
export const LimitsConfig = z.strictObject({
  /** Of each process, and of all together where the machine can count that. */
  memoryMb: z.int().min(16).max(1_048_576).optional(),
  /** Time of computing, which waiting does not use. */
  cpuSeconds: z.int().min(1).max(3600).optional(),
  /** Processes and threads at once. */
  processes: z.int().min(1).max(10_000).optional(),
  /** The largest file, and all that the work folder may hold. */
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

/** The most that any tool may ask for, unless an admin says otherwise. */
const usualBounds: SandboxLimits = {
  memoryMb: 2048,
  cpuSeconds: 3600,
  processes: 512,
  fileMb: 2048,
  openFiles: 4096,
}

const variables: Readonly<Record<keyof SandboxLimits, NumberSettingName>> = {
  memoryMb: 'TOOLDEX_MAX_MEMORY_MB',
  cpuSeconds: 'TOOLDEX_MAX_CPU_SECONDS',
  processes: 'TOOLDEX_MAX_PROCESSES',
  fileMb: 'TOOLDEX_MAX_FILE_MB',
  openFiles: 'TOOLDEX_MAX_OPEN_FILES',
}
const names = Object.keys(variables) as (keyof SandboxLimits)[]

/** The bounds that the environment of the server sets. */
export function readBounds(env: Environment): SandboxLimits {
  const bounds = { ...usualBounds }
  for (const name of names) bounds[name] = readNumberSetting(env, variables[name]) ?? bounds[name]
  return bounds
}

/** What a run gets: what its tool asks for, refused where that is more than an admin allows. */
export function limitsFor(tool: string, asked: LimitsConfig = {}, bounds: SandboxLimits = usualBounds): SandboxLimits {
  const limits = { ...defaultSandboxLimits }
  for (const name of names) {
    const wanted = asked[name]
    if (wanted !== undefined && wanted > bounds[name])
      throw new TooldexError(
        'POLICY_REFUSED',
        `${tool} asks for ${name} ${wanted}; at most ${bounds[name]} is allowed.`,
        {
          hint: `Ask for less, or let an admin raise ${variables[name]}.`,
        },
      )
    limits[name] = Math.min(wanted ?? limits[name], bounds[name])
  }
  return limits
}

const mebibyte = 1024 ** 2

/** The words with which `prlimit` starts a program under the limits. */
export function prlimitArguments(limits: SandboxLimits, processes: number | undefined): readonly string[] {
  const { memoryMb, cpuSeconds, fileMb, openFiles } = limits
  return [
    `--as=${memoryMb * mebibyte}`,
    // A second later comes the signal that cannot be caught.
    `--cpu=${cpuSeconds}:${cpuSeconds + 1}`,
    ...(processes === undefined ? [] : [`--nproc=${processes}`]),
    `--fsize=${fileMb * mebibyte}`,
    `--nofile=${openFiles}`,
    '--core=0',
    '--',
  ]
}
