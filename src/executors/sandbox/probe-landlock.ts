import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../base/expand-variables.ts'
import { withoutPeriod } from '../../base/sentences.ts'
import { findPython } from '../process/find-python.ts'
import { defaultLimits } from '../process/limits.ts'
import { type ProcessEnd, runProcess } from '../process/run-process.ts'
import { confinedSandbox, type Landlock } from './confined-sandbox.ts'
import { interpreterMounts } from './interpreter-mounts.ts'
import { defaultSandboxLimits } from './sandbox-limits.ts'
import { seccompProgram } from './seccomp-program.ts'
import type { Probed } from './self-test.ts'

const deadlineMs = 10_000

// Each function is an attack that must fail; a successful attack prints a line.
const trial = `
import ctypes, os, signal, socket, sys
canary, port, server = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)
def connect():
    with socket.socket() as line:
        line.connect(('127.0.0.1', port))
def any_open():
    for fd in range(3, 256):
        try:
            return os.fstat(fd)
        except OSError:
            pass
    raise OSError
def system(*words):
    if libc.syscall(*map(ctypes.c_long, words)) < 0:
        raise OSError
def privileges():
    if libc.prctl(39, 0, 0, 0, 0) == 1:
        raise OSError
def capabilities():
    held = ctypes.create_string_buffer(24)
    libc.capget((0x20080522).to_bytes(4, sys.byteorder) + bytes(4), held)
    if not any(held.raw[:8]):
        raise OSError
def root():
    if os.geteuid() != 0:
        raise OSError
held = {
    'files of the machine can be read': lambda: open(canary),
    'files of the machine can be written': lambda: open(canary, 'a'),
    'files of the machine can be removed': lambda: os.remove(canary),
    'folders of the machine can be listed': lambda: os.listdir(os.path.dirname(canary)),
    'the system is writable': lambda: open('/usr/tooldex-trial', 'w'),
    'processes of the machine are visible': lambda: os.listdir('/proc'),
    'the server can be signalled': lambda: os.kill(server, 0),
    'the keeper can be signalled': lambda: os.kill(os.getppid(), 0),
    'there is a network': connect,
    'services of the machine can be reached': lambda: socket.socket(socket.AF_UNIX),
    'open files were left': lambda: any_open(),
    'namespaces can be made': lambda: system(272 if os.uname().machine == 'x86_64' else 97, 0),
    'privileges can be gained': privileges,
    'capabilities are left': capabilities,
    'it is root': root,
}
for what, attempt in held.items():
    try:
        attempt()
        print(what)
    except OSError:
        pass
with open('trial', 'w') as file:
    file.write('x')
os.mkdir('folder')
os.rename('trial', 'folder/trial')
with open('/dev/null', 'w') as file:
    file.write('x')
print('tried')
`

/** Confines a program and attacks from inside; as root, with the strongest user that works. */
export async function probeLandlock(env: Environment): Promise<Probed<Landlock>> {
  if (process.platform !== 'linux') return { reason: 'Landlock is for Linux only' }
  if (seccompProgram() === undefined)
    return { reason: `there is no system call filter for the processor ${process.arch}` }
  const python = findPython(env)
  if (python === undefined) return { reason: 'there is no python3 to start programs with' }
  let reason = ''
  for (const user of process.geteuid?.() === 0 ? (['own', 'nobody'] as const) : (['same'] as const)) {
    const found = await tryOne({ python, user })
    if (found === undefined) return { made: { python, user } }
    reason ||= found
  }
  return { reason }
}

/** The failure of the confinement; undefined if all attacks fail. */
async function tryOne(made: Landlock): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'tooldex-trial-'))
  const canary = join(folder, 'canary')
  const line = createServer((socket) => socket.destroy())
  try {
    // World-writable, so that only Landlock can protect it.
    writeFileSync(canary, 'canary')
    chmodSync(canary, 0o666)
    chmodSync(folder, 0o777)
    const end = await runTrial(made, canary, await listen(line))
    if (end.stopped !== null) return 'the self-test timed out'
    const output = end.stdout.text.trim()
    if (output === 'tried') return undefined
    const [last = ''] = end.stderr.text.trim().split('\n').slice(-1)
    return `Landlock failed its self-test: ${[...output.split('\n').slice(0, 3), last].filter(Boolean).join(', ')}`
  } catch (error) {
    return withoutPeriod((error as Error).message)
  } finally {
    line.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runTrial(made: Landlock, canary: string, port: number): Promise<ProcessEnd> {
  const { python } = made
  const shape = { limits: defaultSandboxLimits, network: false, mounts: interpreterMounts(python), env: {} }
  const sandbox = confinedSandbox(made, shape, false)
  const trialArguments = [canary, port, process.pid].map(String)
  const argv = [python, '-I', '-S', '-B', '-c', trial, ...trialArguments]
  const request = { program: python, argv, cwd: '/', env: {}, timeoutMs: deadlineMs }
  return sandbox.explain(await runProcess(request, defaultLimits, sandbox, {}))
}

/** A listening port, so that a failed connection proves the restriction. */
async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  return (server.address() as AddressInfo).port
}
