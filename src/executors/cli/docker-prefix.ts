import { type Environment, expandVariables } from '../../base/expand-variables.ts'
import type { ExecutorChoice } from '../../contract/policy.ts'

/** The part of a container's settings that depends on the call. */
interface DockerCall {
  readonly container: string
  readonly stdin: boolean
  /** Names only: docker reads the values from its own environment. */
  readonly env: readonly string[]
}

/** The arguments that run a command in a fresh container; an unset variable in a volume stays as written. */
export function dockerPrefix(choice: ExecutorChoice, call: DockerCall, env: Environment): readonly string[] {
  return [
    ...['docker', 'run', '--rm', '--name', call.container],
    ...(call.stdin ? ['-i'] : []),
    ...call.env.flatMap((name) => ['-e', name]),
    ...choice.volumes.flatMap((volume) => ['-v', expandVariables(volume, env).text]),
    ...(choice.network === undefined ? [] : ['--network', choice.network]),
    ...(choice.workingDir === undefined ? [] : ['-w', choice.workingDir]),
    choice.image ?? '',
  ]
}
