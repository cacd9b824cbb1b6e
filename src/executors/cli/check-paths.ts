import { resolve } from 'node:path'
import { type Environment, expandHome, expandVariables } from '../../base/expand-variables.ts'
import type { ArgValues } from '../../contract/arguments.ts'
import { type ArgDef, itemType } from '../../contract/cli-config.ts'
import { checkPath } from '../process/check-path.ts'

/** Refuses a path argument that leads out of its root, links followed. */
export function checkPaths(args: readonly ArgDef[], values: ArgValues, cwd: string, env: Environment): void {
  for (const arg of args) {
    const value = values.get(arg.name)
    if (itemType(arg) !== 'path' || arg.root === undefined || value === undefined) continue
    // The folder to run in is looked for from where we are; everything else from that folder.
    const from = arg.cwd ? process.cwd() : cwd
    const root = resolve(from, expandHome(expandVariables(arg.root, env).text, env))
    for (const item of arg.cwd ? [cwd] : [value].flat()) checkPath(arg.name, String(item), root, from)
  }
}
