#!/usr/bin/env node
import { setMaxListeners } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { TooldexError } from '../base/errors.ts'
import { escapeForTerminal } from '../base/invisible-characters.ts'
import { packageVersion } from '../base/package-info.ts'
import { findRunningServer, findServer, registryExists } from '../operations/registry-client/find-server.ts'
import { processEnv } from '../rules/settings.ts'
import { listConfigNames } from '../sources/cli/config-files.ts'
import { type CliHost, runCommandLine } from '../surfaces/cli/index.ts'
import { isOnPath, selfCommand } from '../surfaces/cli/self-command.ts'
import { hideProcess } from './hide-process.ts'

const stopping = new AbortController()
// Every concurrent call adds a listener.
setMaxListeners(0, stopping.signal)
let stopRequestedAt = 0
let editing = false
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    // The editor handles Ctrl+C itself.
    if (editing && name === 'SIGINT') return
    // A second signal exits at once; one key press may deliver the signal twice within a moment.
    if (stopRequestedAt > 0 && Date.now() - stopRequestedAt > 500) process.exit(130)
    stopRequestedAt ||= Date.now()
    stopping.abort(name)
  })
}
// A closed pipe (| head) is not an error.
process.stdout.on('error', () => {})
const unlessClosed = (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE')
    throw new TooldexError('FILE_REFUSED', 'Standard output cannot be written.', { cause: error })
}

// The factor by which V8 enlarges the space of new objects, and its default.
const setGrowth = (factor: 1 | 2): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`)

/**
 * Keeps the space of new objects small until the result is called. Loading modules and unpacking a database would enlarge it to
 * 32 MB, and let as much memory outside of the heap wait for a collection; both would stay resident in an idle server.
 */
function limitYoungGeneration(): () => void {
  setGrowth(1)
  return () => setGrowth(2)
}

const print = (line: string) => void process.stderr.write(`${line}\n`)

const main = fileURLToPath(import.meta.url)
const warnExposed = (reason: string | undefined) => {
  if (reason !== undefined) print(`Other processes of this user can read the environment of this server: ${reason}`)
}

const host: CliHost = {
  version: packageVersion(),
  open: async (options) => (await import('./compose.ts')).composeProcess(options),
  openDatabase: async () => (await import('./open-database.ts')).openOwnDatabase(),
  runStdio: async (options) => (await import('./run-stdio.ts')).runStdio(options, stopping.signal),
  async serve(options) {
    warnExposed(hideProcess())
    const onStarted = limitYoungGeneration()
    await (await import('./serve.ts')).serve({ ...options, print, onStarted }, stopping.signal)
  },
  async work(options) {
    warnExposed(hideProcess())
    await (await import('./run-worker.ts')).runWorker({ ...options, print }, stopping.signal)
  },
  openRegistry: async (server) => (await import('./open-registry.ts')).connectRegistry(server, stopping.signal),
  findServer: (named) => findServer(named),
  runningServer: () => findRunningServer(),
  registryExists: () => registryExists(),
  configNames: () => listConfigNames(),
  async edit(file) {
    editing = true
    const { openEditor } = await import('../surfaces/cli/open-editor.ts')
    await openEditor(file, processEnv, process.stdin.isTTY === true).finally(() => {
      editing = false
    })
  },
  selfCommand: (portable = false) => selfCommand(portable, { main, cwd: process.cwd() }),
  isOnPath: () => isOnPath({ env: processEnv }),
  out: (text) => void process.stdout.write(process.stdout.isTTY ? escapeForTerminal(text) : text),
  outAll: (chunks) => pipeline(chunks, process.stdout, { end: false }).catch(unlessClosed),
  err: (text) => void process.stderr.write(process.stderr.isTTY ? escapeForTerminal(text) : text),
  signal: stopping.signal,
  columns: process.stdout.columns ?? 120,
  interactive: process.stdin.isTTY === true,
}

process.exitCode = await runCommandLine(process.argv.slice(2), host)
