import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunOutcome } from '../../src/contract/run.ts'
import { projectRoot } from '../support/run-cli.ts'

/** One way of breaking out, as a script that returns what it reached. */
export interface Attack {
  readonly number: number
  readonly file: string
  /** What the table of docs/security.md calls it. */
  readonly tries: string
  readonly config?: Readonly<Record<string, unknown>>
  /** Whether the sandbox held; where absent, a script that reached nothing was held. */
  readonly held?: (outcome: RunOutcome) => boolean
}

const diedOf =
  (...codes: string[]) =>
  ({ status, errorCode }: RunOutcome): boolean =>
    status === 'FAILED' && codes.includes(errorCode ?? '')

/** What fault group K tries, except for what needs more than one script. */
export const attacks: readonly Attack[] = [
  { number: 121, file: '121-files', tries: 'read /etc/passwd, homes, keys, files of other programs' },
  { number: 121, file: '121-glimpses', tries: 'learn that a file is there, its size, or what the machine is called' },
  { number: 122, file: '122-writes', tries: 'write outside its work folder' },
  { number: 122, file: '122-modes', tries: 'change modes, owners, times or attributes of files elsewhere' },
  { number: 122, file: '122-attributes', tries: 'change attributes of a file elsewhere that everybody may write to' },
  { number: 122, file: '122-touch', tries: 'set the times of such a file to now' },
  {
    number: 123,
    file: '123-network',
    tries: 'reach loopback services, abstract sockets, private and public addresses',
  },
  { number: 123, file: '123-services', tries: 'send to services by a pair of sockets of its own' },
  { number: 124, file: '124-environment', tries: 'read variables of the server or of other processes' },
  { number: 125, file: '125-syscalls', tries: 'ptrace, keyctl, unshare, mount, bpf, io_uring, userfaultfd and others' },
  { number: 126, file: '126-ways-out', tries: 'get out by links, /proc/*/root, /proc/*/cwd or open files' },
  { number: 127, file: '127-processes', tries: 'fork a thousand processes' },
  { number: 127, file: '127-memory', tries: 'take 2 GiB of memory in one process' },
  {
    number: 127,
    file: '127-memory-of-many',
    tries: 'take 2 GiB of memory in eight processes (held where a control group counts memory)',
    // The kernel may end a child, or the script itself.
    held: ({ status, output, errorCode }) =>
      (status === 'SUCCESS' && isNothing(output)) || errorCode === 'KILLED_BY_SIGNAL',
  },
  { number: 127, file: '127-disk', tries: 'fill the disk with 10 GB' },
  {
    number: 127,
    file: '127-cpu',
    tries: 'compute for ever',
    config: { limits: { cpuSeconds: 1 } },
    held: diedOf('KILLED_BY_SIGNAL'),
  },
  { number: 128, file: '128-signals', tries: 'see or signal processes of the machine' },
  { number: 128, file: '128-others', tries: 'change limits, priority or processors of other processes' },
  { number: 129, file: '129-terminal', tries: 'type into a terminal (TIOCSTI)' },
  { number: 130, file: '130-privileges', tries: 'gain privileges by a setuid program' },
  { number: 133, file: '133-forgery', tries: 'print something that passes for its result' },
  {
    number: 133,
    file: '133-forgery-by-hand',
    tries: 'write to the stream of its result',
    held: ({ status, output }) => status === 'FAILED' && output === null,
  },
  { number: 134, file: '134-imports', tries: 'be imported from its folder (sitecustomize, PYTHONPATH)' },
  {
    number: 134,
    file: '134-pickle',
    tries: 'return a pickle that does harm',
    held: ({ status, errorMessage }) => status === 'FAILED' && (errorMessage ?? '').includes('not JSON'),
  },
]

/** What each run leaves, and the next must not find. */
export const leftovers: readonly Pick<Attack, 'number' | 'file' | 'tries'>[] = [
  { number: 131, file: '131-leftovers', tries: 'leave files for the next run' },
  { number: 131, file: '131-memory', tries: 'leave shared memory for the next run' },
]

/**
 * Attacks that a level without namespaces does not hold: paths can be looked up, the machine has its own name, files that
 * everybody may write to can be touched, and of a work folder on the disk only each file is bounded.
 */
export const notConfined: readonly string[] = ['121-glimpses', '122-touch', '127-disk']

export const isNothing = (output: unknown): boolean => Array.isArray(output) && output.length === 0

/** Whether a run reached nothing that it should not. */
export const wasHeld = ({ held }: Attack, outcome: RunOutcome): boolean =>
  held === undefined ? outcome.status === 'SUCCESS' && isNothing(outcome.output) : held(outcome)

export const scriptOf = (file: string): string =>
  readFileSync(join(projectRoot, 'tests/faults/attacks', `${file}.py`), 'utf8')
