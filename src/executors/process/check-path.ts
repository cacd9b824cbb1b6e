import { readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { TooldexError } from '../../base/errors.ts'
import { toPointer } from '../../base/problem.ts'
import { toOneLine } from '../../base/visible-text.ts'

/** Refuses a path that leads out of a folder, links followed. */
export function checkPath(name: string, path: string, root: string, from: string): void {
  if (path.includes('\0')) throw refuse(name, 'contains a NUL byte', root)
  const shown = `'${toOneLine(path).slice(0, 200)}'`
  let inside: string
  try {
    // Not resolved as text: after a link, `..` is where the link leads, not where it lies.
    inside = relative(realPath(root), realPath(isAbsolute(path) ? path : `${from}/${path}`))
  } catch (error) {
    throw refuse(name, `${shown} cannot be followed (${(error as NodeJS.ErrnoException).code})`, root)
  }
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    throw refuse(name, `${shown} is outside`, root)
}

const maxLinks = 40

/** The path with every link followed, one that leads to nothing too; of a path that does not exist yet, as much as does. */
function realPath(path: string, links = 0): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    const parent = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path || links > maxLinks) throw error
    const target = readLink(`${parent}/${basename(path)}`)
    if (target === undefined) return join(realPath(parent, links), basename(path))
    return realPath(isAbsolute(target) ? target : `${parent}/${target}`, links + 1)
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function refuse(name: string, why: string, root: string): TooldexError {
  const message = `Argument '${name}': ${why}; it must be a path under ${root}.`
  return new TooldexError('INPUT_INVALID', message, {
    hint: `Give a path under ${root}.`,
    problems: [{ severity: 'error', pointer: toPointer([name]), message }],
  })
}
