import { realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { TooldexError } from '../../base/errors.ts'
import { type Environment, expandHome, expandVariables } from '../../base/expand-variables.ts'
import { toPointer } from '../../base/problem.ts'
import { toOneLine } from '../../base/visible-text.ts'
import type { ArgValues } from '../../contract/arguments.ts'
import { type ArgDef, itemType } from '../../contract/cli-config.ts'

/** Refuses a path argument that leads out of its root, links followed. */
export function checkPaths(args: readonly ArgDef[], values: ArgValues, cwd: string, env: Environment): void {
  for (const arg of args) {
    const value = values.get(arg.name)
    if (itemType(arg) !== 'path' || arg.root === undefined || value === undefined) continue
    const root = realPath(resolve(cwd, expandHome(expandVariables(arg.root, env).text, env)))
    for (const item of [value].flat()) checkPath(arg.name, String(item), root, cwd)
  }
}

function checkPath(name: string, path: string, root: string, cwd: string): void {
  if (path.includes('\0')) throw refuse(name, 'contains a NUL byte', root)
  const inside = relative(root, realPath(resolve(cwd, path)))
  if (inside === '..' || inside.startsWith(`..${sep}`)) throw refuse(name, `'${toOneLine(path).slice(0, 200)}' is outside`, root)
}

/** The path with every link followed; of one that does not exist yet, as much as does. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && dirname(path) !== path) return join(realPath(dirname(path)), basename(path))
    return path
  }
}

function refuse(name: string, why: string, root: string): TooldexError {
  const message = `Argument '${name}': ${why}; it must be a path under ${root}.`
  return new TooldexError('INPUT_INVALID', message, {
    hint: `Give a path under ${root}.`,
    problems: [{ severity: 'error', pointer: toPointer([name]), message }],
  })
}
