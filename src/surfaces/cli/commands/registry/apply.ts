import { TooldexError } from '../../../../base/errors.ts'
import { formatProblem } from '../../../../base/problem.ts'
import { type Bundle, bundleKinds } from '../../../../contract/bundle.ts'
import { hasErrors } from '../../../../diagnostics/finding.ts'
import { readBundleFolder } from '../../../../sources/bundle/index.ts'
import { rejectFiles, toLocations } from '../../read-tool-file.ts'
import type { AddCommand } from '../command.ts'
import { withRegistry } from './registry-command.ts'
import { type ImportFlags, importInto, withImportOptions } from './tool-bundles.ts'

const isEmpty = (bundle: Bundle): boolean => bundleKinds.every((kind) => bundle[kind].length === 0)

/** `tooldex apply DIR`: updates the registry from the files of a folder. */
export const addApply: AddCommand = (program, host) => {
  const command = program.command('apply <folder>')
  withImportOptions(command).action(async (folder: string, flags: ImportFlags) => {
    const read = await readBundleFolder(folder)
    const { bundle, problems, place } = read
    if (hasErrors(problems)) throw await rejectFiles(folder, read, (work) => withRegistry(host, flags, work))
    for (const warning of problems) host.err(`warning: ${formatProblem(warning)}\n`)
    if (flags.prune && isEmpty(bundle))
      throw new TooldexError(
        'USAGE',
        `${folder} contains no tools, categories, policies, toolsets, limits or sources, so --prune would remove everything.`,
        {
          hint: 'Name the folder with your files, or omit --prune.',
        },
      )
    return importInto(host, flags, { bundle }).catch((thrown: unknown) => {
      throw toLocations(nameFolder(thrown, folder), place)
    })
  })
}

/** Names the folder in the error of a server that rejects a large request body. */
function nameFolder(thrown: unknown, folder: string): unknown {
  if (!(thrown instanceof TooldexError) || thrown.code !== 'TOO_LARGE') return thrown
  return new TooldexError('TOO_LARGE', `${folder} is too large for one request: ${thrown.message}`, {
    hint: thrown.hint,
  })
}
