import { TooldexError } from '../../../../base/errors.ts'
import { formatProblem } from '../../../../base/problem.ts'
import type { Bundle } from '../../../../contract/bundle.ts'
import { BundleRefused, readBundleFolder } from '../../../../sources/bundle/index.ts'
import type { CliHost } from '../../host.ts'
import { toPlaces, validateRejected } from '../../validate-files.ts'
import type { AddCommand } from '../command.ts'
import { withRegistry } from './registry-command.ts'
import { type ImportFlags, importInto, withImportOptions } from './tool-bundles.ts'

const isEmpty = ({ tools, categories, policies }: Bundle): boolean =>
  tools.length + categories.length + policies.length === 0

/** `tooldex apply DIR`: makes the registry what the files of a folder say. */
export const addApply: AddCommand = (program, host) => {
  const command = program.command('apply <folder>')
  withImportOptions(command).action(async (folder: string, flags: ImportFlags) => {
    const { bundle, warnings, place } = await readOrJudge(host, flags, folder)
    for (const warning of warnings) host.err(`warning: ${formatProblem(warning)}\n`)
    if (flags.prune && isEmpty(bundle))
      throw new TooldexError('USAGE', `${folder} has nothing in it, and with --prune everything would be removed.`, {
        hint: 'Name the folder with your files, or leave --prune out.',
      })
    return importInto(host, flags, { bundle }).catch((thrown: unknown) => {
      throw toPlaces(nameFolder(thrown, folder), place)
    })
  })
}

/** A server that takes no more than so much speaks of a body, which nobody wrote. */
function nameFolder(thrown: unknown, folder: string): unknown {
  if (!(thrown instanceof TooldexError) || thrown.code !== 'TOO_LARGE') return thrown
  return new TooldexError('TOO_LARGE', `${folder} is too large for one request: ${thrown.message}`, {
    hint: thrown.hint,
  })
}

/** Reads a folder; where its files are refused, the registry says what else is wrong with their tools. */
async function readOrJudge(host: CliHost, flags: ImportFlags, folder: string) {
  try {
    return readBundleFolder(folder)
  } catch (thrown) {
    if (!(thrown instanceof BundleRefused)) throw thrown
    throw await validateRejected(thrown, (work) => withRegistry(host, flags, work))
  }
}
