// Loaded into a server before its own code (node --import): a thread that notes each turn of the main thread's event loop
// that computes for long. CPU time of that thread is measured, so that a loaded machine does not look like a blocked loop.
import { appendFileSync, closeSync, openSync, readSync } from 'node:fs'
import { Session } from 'node:inspector'
import { join } from 'node:path'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

const folder = process.env.TOOLDEX_LOOP_FOLDER
const isServer = process.argv.includes('serve')

if (isMainThread && folder !== undefined && isServer) {
  const beat = new Int32Array(new SharedArrayBuffer(4))
  new Worker(new URL(import.meta.url), {
    execArgv: [],
    workerData: { watched: true, beat, pid: process.pid, file: join(folder, `${process.pid}.jsonl`) },
  }).unref()
  setInterval(() => Atomics.add(beat, 0, 1), 2).unref()
}

if (!isMainThread && workerData?.watched === true) watch(workerData)

function watch({ beat, pid, file }) {
  const stat = openSync(`/proc/self/task/${pid}/schedstat`, 'r')
  const bytes = Buffer.alloc(100)
  const cpuMs = () => Number(bytes.toString('latin1', 0, readSync(stat, bytes, 0, 100, 0)).split(' ')[0]) / 1e6
  const capture = process.env.TOOLDEX_LOOP_STACK === undefined ? undefined : openCapture()
  let seen = Atomics.load(beat, 0)
  let [cpu, wall] = [cpuMs(), performance.now()]
  let stack
  const timer = setInterval(() => {
    const now = Atomics.load(beat, 0)
    const took = { cpuMs: cpuMs() - cpu, wallMs: performance.now() - wall }
    if (now === seen && took.cpuMs > 35 && stack === undefined && capture !== undefined) {
      stack = ''
      capture((frames) => {
        stack = frames
      })
    }
    if (now === seen) return
    if (took.cpuMs > 20) appendFileSync(file, `${JSON.stringify({ at: Date.now(), ...took, stack })}\n`)
    ;[seen, cpu, wall, stack] = [now, cpuMs(), performance.now(), undefined]
  }, 2)
  parentPort?.once('close', () => {
    clearInterval(timer)
    closeSync(stat)
  })
}

/** Reads the stack of the main thread while it runs. */
function openCapture() {
  const session = new Session()
  session.connectToMainThread()
  session.post('Debugger.enable')
  let done
  session.on('Debugger.paused', ({ params: { callFrames } }) => {
    done?.(
      callFrames
        .slice(0, 14)
        .map(
          (frame) =>
            `${frame.functionName}@${frame.url.split('/').slice(-2).join('/')}:${frame.location.lineNumber + 1}`,
        )
        .join(' < '),
    )
    session.post('Debugger.resume')
  })
  return (take) => {
    done = take
    session.post('Debugger.pause')
  }
}
