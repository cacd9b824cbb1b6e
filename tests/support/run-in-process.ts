import { composeProcess } from '../../src/app/compose.ts'
import { openOwnDatabase } from '../../src/app/open-database.ts'
import { type CliHost, runCommandLine } from '../../src/surfaces/cli/index.ts'

/** Runs a command line in this very process, which is faster than starting another. */
export async function runInProcess(words: readonly string[], own: Partial<CliHost> = {}) {
  let [out, err] = ['', '']
  const host: CliHost = {
    version: '0',
    open: async (options) => composeProcess(options),
    openDatabase: () => openOwnDatabase(),
    runStdio: async () => {},
    serve: async () => {},
    work: async () => {},
    openRegistry: async () => {
      throw new Error('no registry here')
    },
    findServer: () => undefined,
    runningServer: () => undefined,
    registryExists: () => false,
    configNames: () => [],
    edit: async () => {},
    selfCommand: () => [],
    isOnPath: () => true,
    out: (text) => {
      out += text
    },
    outAll: async (chunks) => {
      for await (const chunk of chunks) out += chunk
    },
    err: (text) => {
      err += text
    },
    signal: new AbortController().signal,
    columns: 120,
    interactive: false,
    ...own,
  }
  const code = await runCommandLine(words, host)
  return { code, out, err }
}
