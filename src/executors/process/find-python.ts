import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Environment } from '../../base/expand-variables.ts'
import { processEnv, readSetting } from '../../rules/settings.ts'

// Before PATH, which may contain a shim of a version manager that takes longer to start than the check itself.
const usual = ['/opt/homebrew/bin/python3', '/usr/bin/python3', '/usr/local/bin/python3']

/** The Python that TOOLDEX_PYTHON names, else the system's python3; undefined where there is none. */
export function findPython(env: Environment = processEnv): string | undefined {
  const named = readSetting('TOOLDEX_PYTHON', env)
  if (named !== undefined) return isExecutable(named) ? named : undefined
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/'))
  return [...usual, ...folders.map((folder) => join(folder, 'python3'))].find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
