import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Environment } from '../../base/expand-variables.ts'
import type { ProcessScope } from '../process/containment.ts'
import { findPython } from '../process/find-python.ts'
import { programText } from '../process/program-text.ts'
import { type Probed, SelfTest } from './self-test.ts'

/** The folders that the shield hides and shows. */
export interface ShieldOptions {
  readonly env: Environment
  /** The folder of the server. */
  readonly hidden: string
  /** A folder in it that programs may read. */
  readonly shown?: string | undefined
}

/** Hides the memory, variables and files of the server from programs that run without a sandbox. */
export class Shield {
  readonly #options: ShieldOptions
  readonly selfTest: SelfTest<string>

  constructor(options: ShieldOptions) {
    this.#options = options
    this.selfTest = new SelfTest(() => probeShield(options.env))
  }

  /** The scope with its program behind the shield; unchanged if the system does not support it. */
  async wrap<C extends ProcessScope>(scope: C): Promise<C> {
    const probed = await this.selfTest.run()
    if ('reason' in probed) return scope
    const args = argumentsFor(realpathSync(this.#options.hidden), this.#options.shown ?? '')
    return { ...scope, wrap: (program, rest) => scope.wrap(probed.made, [...args, program, ...rest]) }
  }
}

const shieldLauncher = programText('./shield-launcher.py', import.meta.url)

const argumentsFor = (hidden: string, shown: string): readonly string[] => [
  '-I',
  '-S',
  '-B',
  '-c',
  shieldLauncher(),
  hidden,
  shown,
]

const deadlineMs = 60_000

/** Hides a file and this process, and tries to read them. */
async function probeShield(env: Environment): Promise<Probed<string>> {
  if (process.platform !== 'linux') return { reason: 'Landlock is for Linux only' }
  const python = findPython(env)
  if (python === undefined) return { reason: 'there is no python3 to start programs with' }
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tooldex-shield-')))
  try {
    const hidden = join(folder, 'hidden')
    mkdirSync(hidden)
    writeFileSync(join(hidden, 'canary'), 'canary')
    const trial = `cat ${hidden}/canary /proc/${process.pid}/maps; echo x > ${hidden}/new; [ -r /bin/sh ] && echo tried`
    const args = [...argumentsFor(hidden, ''), '/bin/sh', '-c', `(${trial}) 2>/dev/null`]
    const { stdout } = await promisify(execFile)(python, args, { timeout: deadlineMs, env: { PATH: env.PATH } })
    return stdout.trim() === 'tried' ? { made: python } : { reason: 'the self-test could read the server' }
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string }
    return { reason: (stderr.trim().split('\n').at(-1) || message).slice(0, 200) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
