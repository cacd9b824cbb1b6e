#!/usr/bin/env node
import { setMaxListeners } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { TooldexError } from '../base/errors.ts'
import { packageVersion } from '../base/package-info.ts'
import { forTerminal } from '../base/visible-text.ts'
import { listConfigNames } from '../sources/cli/config-files.ts'
import { type CliHost, runCommandLine } from '../surfaces/cli/index.ts'
import { findServer, hasRegistry, runningServer } from './find-server.ts'
import { isOnPath, selfCommand } from './self-command.ts'
import { withdrawEnvironment } from './withdraw-environment.ts'

const stopping = new AbortController()
// Everything that runs at once listens to it.
setMaxListeners(0, stopping.signal)
let asked = 0
let editing = false
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    // In an editor Ctrl+C is the editor's.
    if (editing && name === 'SIGINT') return
    // Whoever asks again after a while has waited long enough; one key press may reach a process twice at once.
    if (asked > 0 && Date.now() - asked > 500) process.exit(130)
    asked ||= Date.now()
    stopping.abort(name)
  })
}
// A reader that has seen enough (| head) is no error.
process.stdout.on('error', () => {})
const unlessLeft = (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE')
    throw new TooldexError('FILE_REFUSED', 'Standard output cannot be written.', { cause: error })
}

const say = (line: string) => void process.stderr.write(`${line}\n`)

const main = fileURLToPath(import.meta.url)
const sayExposed = (reason: string | undefined) => {
  if (reason !== undefined) say(`other processes of this user can read the variables of this server: ${reason}`)
}

const host: CliHost = {
  version: packageVersion(),
  open: async (options) => (await import('./compose.ts')).compose(options),
  openDatabase: async () => (await import('./open-database.ts')).openOwnDatabase(),
  runStdio: async (options) => (await import('./run-stdio.ts')).runStdio(options, stopping.signal),
  async serve(options) {
    sayExposed(withdrawEnvironment())
    await (await import('./serve.ts')).serve({ ...options, say }, stopping.signal)
  },
  async work(options) {
    sayExposed(withdrawEnvironment())
    await (await import('./run-worker.ts')).work({ ...options, say }, stopping.signal)
  },
  openRegistry: async (server) => (await import('./open-registry.ts')).connectRegistry(server, stopping.signal),
  findServer: (named) => findServer(named),
  runningServer: () => runningServer(),
  hasRegistry: () => hasRegistry(),
  configNames: () => listConfigNames(),
  async edit(file) {
    editing = true
    await (await import('./open-editor.ts')).openEditor(file, process.env).finally(() => {
      editing = false
    })
  },
  selfCommand: (portable = false) => selfCommand(portable, { main, cwd: process.cwd() }),
  isOnPath: () => isOnPath({ env: process.env }),
  out: (text) => void process.stdout.write(process.stdout.isTTY ? forTerminal(text) : text),
  outAll: (chunks) => pipeline(chunks, process.stdout, { end: false }).catch(unlessLeft),
  err: (text) => void process.stderr.write(process.stderr.isTTY ? forTerminal(text) : text),
  signal: stopping.signal,
  columns: process.stdout.columns ?? 120,
  interactive: process.stdin.isTTY === true,
}

process.exitCode = await runCommandLine(process.argv.slice(2), host)
