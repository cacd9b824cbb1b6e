import { type Environment, expandVariables } from '../../base/expand-variables.ts'
import type { ExecutorChoice } from '../../contract/policy.ts'

/** What a call adds to a policy's container settings. */
interface DockerCall {
  readonly container: string
  readonly stdin: boolean
  /** Names only: docker takes the values from its own environment. */
  readonly env: readonly string[]
}

/** The words that put a command into a fresh container; an unset variable in a volume stays as written. */
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
