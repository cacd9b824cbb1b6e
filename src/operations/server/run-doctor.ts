import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import * as z from 'zod'
import { toTooldexError } from '../../base/errors.ts'
import { ensurePrivateFolder } from '../../base/home-files.ts'
import { encoderFile } from '../../base/package-info.ts'
import { splitCommandWords } from '../../base/split-words.ts'
import { detectContainment } from '../../executors/process/containment.ts'
import { findProgram } from '../../executors/process/find-program.ts'
import type { Levels } from '../../executors/sandbox/levels.ts'
import { processEnv } from '../../rules/settings.ts'
import { expectedChecksum } from '../../search/encoder.ts'
import { listConfigNames, loadConfigFile, tooldexHome, userConfigsDir } from '../../sources/cli/index.ts'
import { type Client, clientNames, clients } from '../clients/client-files.ts'
import { defineOperation } from '../operation.ts'

const Check = z.object({
  name: z.string(),
  state: z.enum(['ok', 'warning', 'error']),
  message: z.string(),
  hint: z.string().optional(),
})
type Check = z.infer<typeof Check>

/** Checks the installation, with a hint for each problem. */
export const runDoctor = defineOperation({
  name: 'system.doctor',
  summary: 'Check the installation: Node, folders, model, configs, programs, containment, sandbox, clients.',
  scope: 'read',
  input: z.object({}),
  output: z.object({ checks: z.array(Check), ok: z.boolean() }),
  async handle() {
    const [sandbox, shield] = [await checkSandbox(), await checkShield()]
    const first = [checkNode(), checkHome(), checkModel(), checkContainment(), sandbox, shield]
    const checks = [...first, ...checkConfigs(), ...checkClients()]
    return { checks, ok: checks.every((check) => check.state !== 'error') }
  },
})

function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const good = major > 20 || (major === 20 && minor >= 19)
  const message = `Node ${process.versions.node}`
  return good
    ? { name: 'node', state: 'ok', message }
    : { name: 'node', state: 'error', message, hint: 'Tooldex needs Node 20.19 or newer.' }
}

function checkHome(): Check {
  const folder = userConfigsDir()
  try {
    ensurePrivateFolder(folder)
    accessSync(folder, constants.W_OK)
    return { name: 'home', state: 'ok', message: `user configs are read from ${folder}` }
  } catch {
    return {
      name: 'home',
      state: 'warning',
      message: `${folder} is not writable`,
      hint: 'Set TOOLDEX_HOME to a writable folder.',
    }
  }
}

/** Semantic search needs exactly the released file. */
function checkModel(): Check {
  const name = 'model'
  const hint = 'Install the package again; until then search ranks by words only.'
  const expected = expectedChecksum(encoderFile)
  if (!existsSync(encoderFile)) return { name, state: 'warning', message: `${encoderFile} is missing`, hint }
  const found = createHash('sha256').update(readFileSync(encoderFile)).digest('hex')
  if (expected === found) return { name, state: 'ok', message: `encoder.bin, SHA-256 ${found}` }
  const message = `encoder.bin has SHA-256 ${found}, but SHA256SUMS has ${expected ?? 'no entry for it'}`
  return { name, state: 'error', message, hint }
}

function checkContainment(): Check {
  const { kind } = detectContainment()
  const how = {
    'pid-namespace': 'each call has a PID namespace: no process outlives it',
    'process-group':
      'each call has a process group; processes that leave it are found by a marker in their environment',
  }
  return { name: 'containment', state: 'ok', message: how[kind] }
}

async function checkSandbox(): Promise<Check> {
  const [{ Sandbox }, { installHints }] = await Promise.all([
    import('../../executors/sandbox/sandbox.ts'),
    import('../../executors/sandbox/levels.ts'),
  ])
  const { levels } = new Sandbox({ env: processEnv })
  const { level, reasons } = await levels.best()
  const message = {
    isolated: 'scripts and commands run isolated (bubblewrap)',
    confined: `scripts and commands run confined (Landlock), not isolated: ${reasons.join('; ')}`,
    none: `scripts and commands of the registry are refused: ${reasons.join('; ')}`,
  }[level ?? 'none']
  if (level === 'isolated') return { name: 'sandbox', state: 'ok', message: `${message}${await alsoConfined(levels)}` }
  const hints = level === 'confined' ? [installHints.isolated] : Object.values(installHints)
  return { name: 'sandbox', state: 'warning', message, hint: hints.join(' ') }
}

async function checkShield(): Promise<Check> {
  const { Shield } = await import('../../executors/sandbox/shield.ts')
  const probed = await new Shield({ env: processEnv, hidden: tooldexHome() }).selfTest.run()
  if ('made' in probed)
    return {
      name: 'shield',
      state: 'ok',
      message: 'a server hides itself from tools that run with limits only (Landlock)',
    }
  return {
    name: 'shield',
    state: 'warning',
    message: `tools that run with limits only can read the memory and files of a server: ${probed.reason}`,
    hint: 'Use Linux 5.19 or newer with Landlock and install python3, or do not allow such tools.',
  }
}

/** Tools can request the second level by name. */
async function alsoConfined({ confined }: Levels): Promise<string> {
  const probed = await confined.run()
  return 'made' in probed ? ', or confined if they request it (Landlock)' : `; not confined: ${probed.reason}`
}

function checkConfigs(): readonly Check[] {
  return listConfigNames().map((name) => {
    try {
      const { config } = loadConfigFile(name)
      const [program = ''] = splitCommandWords(config.command, processEnv)
      const found = findProgram(program, processEnv, process.cwd())
      return { name: `config ${name}`, state: 'ok', message: `${config.tools.length} tools, ${found}` }
    } catch (thrown) {
      const error = toTooldexError(thrown)
      const state = error.code === 'COMMAND_NOT_FOUND' ? 'warning' : 'error'
      return { name: `config ${name}`, state, message: error.message, hint: error.hint }
    }
  })
}

function checkClients(): readonly Check[] {
  const environment = { home: homedir(), cwd: process.cwd(), platform: process.platform, env: processEnv }
  return clientNames.map((id) => {
    const { title, files } = clients[id] as Client
    const found = Object.values(files)
      .map((file) => file(environment))
      .filter((file) => existsSync(file))
    const message = found.length > 0 ? `${title}: ${found.join(', ')}` : `${title}: not set up (tooldex install ${id})`
    return { name: `client ${id}`, state: 'ok', message }
  })
}
