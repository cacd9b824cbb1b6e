import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

// Before PATH, where a shim of a version manager may stand that takes longer to start than the check itself.
const usual = ['/opt/homebrew/bin/python3', '/usr/bin/python3', '/usr/local/bin/python3']

/** The system's python3, or undefined where there is none. */
export function findPython(path = process.env.PATH ?? ''): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder.startsWith('/'))
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
