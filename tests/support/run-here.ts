import { connectRegistry } from '../../src/app/open-registry.ts'
import { packageVersion } from '../../src/base/package-info.ts'
import { findRunningServer, findServer, registryExists } from '../../src/operations/registry-client/find-server.ts'
import { listConfigNames } from '../../src/sources/cli/config-files.ts'
import { isOnPath, selfCommand } from '../../src/surfaces/cli/self-command.ts'
import { type CliResult, mainFile } from './run-cli.ts'
import { runInProcess } from './run-in-process.ts'

interface HereOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
}

let last: Promise<unknown> = Promise.resolve()

/** Runs `tooldex` with these words in this process, where the process itself is not the point; one at a time. */
export function runInline(words: readonly string[], options: HereOptions = {}): Promise<CliResult> {
  const result = last.then(() => inPlace(options, () => runWithRealParts(words)))
  last = result.catch(() => {})
  return result
}

async function runWithRealParts(words: readonly string[]): Promise<CliResult> {
  const { code, out, err } = await runInProcess(words, {
    version: packageVersion(),
    openRegistry: (server) => connectRegistry(server, new AbortController().signal),
    findServer: (named) => findServer(named),
    runningServer: () => findRunningServer(),
    registryExists: () => registryExists(),
    configNames: () => listConfigNames(),
    selfCommand: (portable = false) => selfCommand(portable, { main: mainFile, cwd: process.cwd() }),
    isOnPath: () => isOnPath({ env: process.env }),
  })
  return { code, stdout: out, stderr: err }
}

/** Runs a function with another environment and working directory, and restores both. */
async function inPlace<Result>({ cwd, env = {} }: HereOptions, work: () => Promise<Result>): Promise<Result> {
  const [before, place] = [{ ...process.env }, process.cwd()]
  setEnvironment({ ...before, ...env })
  if (cwd !== undefined) process.chdir(cwd)
  try {
    return await work()
  } finally {
    setEnvironment(before)
    process.chdir(place)
  }
}

function setEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name]
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value
}
