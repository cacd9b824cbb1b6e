import { formatProblem } from '../../../base/problem.ts'
import { readBundleFolder } from '../../../sources/bundle/index.ts'
import type { AddCommand } from './command.ts'
import { type ImportFlags, importInto, withImportOptions } from './tool-bundles.ts'

/** `tooldex apply DIR`: makes the registry what the files of a folder say. */
export const addApply: AddCommand = (program, host) => {
  const command = program
    .command('apply <folder>')
    .description('make the registry what the files of a folder say: tools, categories and policies')
  withImportOptions(command).action((folder: string, flags: ImportFlags) => {
    const { bundle, warnings } = readBundleFolder(folder)
    for (const warning of warnings) host.err(`warning: ${formatProblem(warning)}\n`)
    return importInto(host, flags, { bundle })
  })
}
