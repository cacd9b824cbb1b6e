import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { projectRoot } from '../support/run-cli.ts'

/** Who a script of a test runs as, and what is kept from it. */
export interface NodeSettings {
  /** As an ordinary user without groups or capabilities. */
  readonly ordinary?: boolean
  /** As root with these capabilities only. */
  readonly capabilities?: readonly string[]
  /** The number of a system call that its machine does not have. */
  readonly without?: number | undefined
  readonly env?: Readonly<Record<string, string>>
  /** A line for a shell that leaves something to the process, ended by `exec "$@"`. */
  readonly shell?: string
}

/** What scripts of tests need of the program, from where it was built. */
export const imports = `
import { createPythonExecutor, createShellExecutor, Environments, Sandbox } from '${projectRoot}/dist/executors/index.js'
import { confinedSandbox } from '${projectRoot}/dist/executors/sandbox/confined-sandbox.js'
import { defaultSandboxLimits } from '${projectRoot}/dist/executors/sandbox/sandbox-limits.js'
import { defaultLimits } from '${projectRoot}/dist/executors/process/limits.js'
import { runProcess } from '${projectRoot}/dist/executors/process/run-process.js'
`

/** Starts Node with a script of a test; it may be another user than we are. */
export function startNode(script: string, settings: NodeSettings = {}): ChildProcess {
  const { ordinary, capabilities, without, shell, env = {} } = settings
  const words = [
    ...(shell === undefined ? [] : ['sh', '-c', shell, 'sh']),
    ...(ordinary ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []),
    ...(capabilities === undefined ? [] : ['setpriv', `--bounding-set=${onlyWords(capabilities)}`, '--inh-caps=-all']),
    ...(without === undefined ? [] : ['/usr/bin/python3', withoutCall, String(without)]),
    ...[process.execPath, '--input-type=module'],
  ]
  const [program = '', ...args] = words
  const child = spawn(program, args, {
    cwd: '/',
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => {})
  child.stdin.end(`${imports}\n${script}`)
  return child
}

const withoutCall = join(projectRoot, 'tests/faults/without-call.py')

const onlyWords = (names: readonly string[]): string => ['-all', ...names.map((name) => `+${name}`)].join(',')

/** What a script printed, line by line; throws what it said where it failed. */
export async function runNode(script: string, settings: NodeSettings = {}): Promise<readonly unknown[]> {
  const child = startNode(script, settings)
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
    })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the script ended with ${code}: ${said.stderr}`)
  return said.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
}
