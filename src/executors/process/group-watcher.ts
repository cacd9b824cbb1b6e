import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Writable } from 'node:stream'

/**
 * A shell that reads the running calls from a pipe, which closes when this process ends for any reason. It then kills the
 * process groups of running calls and all processes with the mark, until two scans in a row find none, because a killed
 * process may have forked. It runs in a session of its own, so that signals to this process do not reach it.
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

/** Ends the calls of this process after the process was killed. */
export class GroupWatcher {
  /** The mark in the environment of every process of every call. */
  readonly mark = randomBytes(12).toString('hex')
  #shell: ChildProcess | undefined

  /** Registers the process group of a running call. */
  started(group: number): void {
    this.#send(`+ ${group}\n`)
  }

  ended(group: number): void {
    this.#send(`- ${group}\n`)
  }

  /** Starts the shell before the first call, and again if it was killed. */
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
    // Without a shell there is no watcher; calls that end normally are cleaned up all the same.
    shell.on('error', () => {})
    shell.stdin.on('error', () => {})
    shell.unref()
    ;(shell.stdin as Writable & { unref(): void }).unref()
    return shell
  }

  #send(line: string): void {
    if (this.#shell?.stdin?.writable) this.#shell.stdin.write(line)
  }
}
