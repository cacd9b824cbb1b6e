import { readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { TooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import { toPointer } from '../../base/problem.ts'

/** Rejects a path that leads out of a folder, after following links. */
export function checkPath(name: string, path: string, root: string, from: string): void {
  if (path.includes('\0')) throw refuse(name, 'contains a NUL byte', root)
  const displayPath = `'${toOneLine(path).slice(0, 200)}'`
  const outside = () => refuse(name, `${displayPath} is outside`, root)
  let inside: string
  try {
    // Not resolved lexically: after a link, `..` is the parent of the target of the link.
    inside = relative(followLinks(root), followLinks(isAbsolute(path) ? path : `${from}/${path}`))
  } catch (error) {
    // The reason would reveal files elsewhere.
    if (leadsOut(relative(resolve(root), resolve(from, path)))) throw outside()
    throw refuse(name, `${displayPath} cannot be resolved (${(error as NodeJS.ErrnoException).code})`, root)
  }
  if (leadsOut(inside)) throw outside()
}

const leadsOut = (path: string): boolean => path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)

const maxLinks = 40

/** The path with every link followed, dangling links included; of a path that does not exist yet, its existing part is resolved. */
export function followLinks(path: string, links = 0): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    const parent = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path || links > maxLinks) throw error
    const target = readLink(`${parent}/${basename(path)}`)
    if (target === undefined) return join(followLinks(parent, links), basename(path))
    return followLinks(isAbsolute(target) ? target : `${parent}/${target}`, links + 1)
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
    hint: `Pass a path under ${root}.`,
    problems: [{ severity: 'error', pointer: toPointer([name]), message }],
  })
}
