import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'

/** Hides this process from others of the same user. Returns the reason if its variables can still be read. */
export function hideProcess(): string | undefined {
  // By default the signal opens a debugger port, through which every process of the machine could run code in this one.
  process.on('SIGUSR1', () => {})
  return withdrawEnvironment()
}

/**
 * Removes the variables of this process from `/proc/PID/environ`, where every process of the same user could read them.
 * The kernel exposes the memory that the process was started with, so that memory is overwritten. Starting a second
 * process with a clean environment would cost its startup time and change the process id. Returns the reason if they can
 * still be read.
 */
function withdrawEnvironment(): string | undefined {
  if (process.platform !== 'linux') return `there is no way to hide them on ${process.platform}`
  for (const [name, value] of Object.entries(process.env)) {
    // Setting a variable again moves it out of the memory that is overwritten.
    delete process.env[name]
    process.env[name] = value
  }
  try {
    overwriteOriginal()
    return readFileSync('/proc/self/environ').some((byte) => byte !== 0) ? 'they were not overwritten' : undefined
  } catch (error) {
    return `they could not be overwritten (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`
  }
}

// Field numbers after the process name, starting with the state.
const [envStartField, envEndField] = [47, 48]

function overwriteOriginal(): void {
  const stat = readFileSync('/proc/self/stat', 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [start, end] = [Number(fields[envStartField]), Number(fields[envEndField])]
  const memory = openSync('/proc/self/mem', 'r+')
  try {
    writeSync(memory, Buffer.alloc(end - start), 0, end - start, start)
  } finally {
    closeSync(memory)
  }
}
