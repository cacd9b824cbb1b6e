import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Writable } from 'node:stream'

/**
 * A shell that reads which calls run from a pipe that ends with us, however we end. It then kills the groups of those
 * that had not ended, and whatever else carries our mark; twice in a row it must find nothing, for what is killed may
 * have forked. It belongs to a session of its own, so that what is meant for us does not reach it.
 */
const script = `
live=' '
while read -r sign pid; do
  case $sign in
    +) live="$live$pid " ;;
    -) case $live in *" $pid "*) live="\${live%% $pid *} \${live#* $pid }" ;; esac ;;
  esac
done
for pid in $live; do kill -s KILL -- "-$pid"; done
marked() {
  if [ -r /proc/self/environ ]; then grep -ls "$1" /proc/[0-9]*/environ | cut -d / -f 3
  else ps -Eww -axo pid=,command= | grep "$1" | awk '!/grep/ { print $1 }'; fi
}
quiet=0
looks=0
while [ $quiet -lt 2 ] && [ $looks -lt 200 ]; do
  found=$(marked "$0")
  if [ -z "$found" ]; then quiet=$((quiet + 1)); else quiet=0; kill -s KILL $found; fi
  looks=$((looks + 1))
done
`

/** Ends the calls of this process when it was killed and cannot do it itself. */
export class GroupWatcher {
  /** What every process of every call of ours carries. */
  readonly mark = randomBytes(12).toString('hex')
  #shell: ChildProcess | undefined

  /** Says that a call runs in a group. */
  started(group: number): void {
    this.#tell(`+ ${group}\n`)
  }

  ended(group: number): void {
    this.#tell(`- ${group}\n`)
  }

  /** Must be there before the first call is; one that was killed is replaced with the next call. */
  ready(): void {
    if (this.#shell === undefined || this.#shell.exitCode !== null || this.#shell.signalCode !== null)
      this.#shell = this.#start()
  }

  #start(): ChildProcess {
    const shell = spawn('/bin/sh', ['-c', script, this.mark], {
      detached: true,
      cwd: '/',
      env: { PATH: process.env.PATH },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    // A machine without a shell has no watcher; calls that end by themselves are cleaned up all the same.
    shell.on('error', () => {})
    shell.stdin.on('error', () => {})
    shell.unref()
    ;(shell.stdin as Writable & { unref(): void }).unref()
    return shell
  }

  #tell(line: string): void {
    if (this.#shell?.stdin?.writable) this.#shell.stdin.write(line)
  }
}
