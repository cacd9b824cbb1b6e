import { TooldexError } from '../../../base/errors.ts'
import { formatProblem } from '../../../base/problem.ts'
import type { Bundle } from '../../../contract/bundle.ts'
import { readBundleFolder } from '../../../sources/bundle/index.ts'
import type { AddCommand } from './command.ts'
import { type ImportFlags, importInto, withImportOptions } from './tool-bundles.ts'

const isEmpty = ({ tools, categories, policies }: Bundle): boolean =>
  tools.length + categories.length + policies.length === 0

/** `tooldex apply DIR`: makes the registry what the files of a folder say. */
export const addApply: AddCommand = (program, host) => {
  const command = program
    .command('apply <folder>')
    .description('make the registry what the files of a folder say: tools, categories and policies')
  withImportOptions(command).action((folder: string, flags: ImportFlags) => {
    const { bundle, warnings, place } = readBundleFolder(folder)
    for (const warning of warnings) host.err(`warning: ${formatProblem(warning)}\n`)
    if (flags.prune && isEmpty(bundle))
      throw new TooldexError('USAGE', `${folder} has nothing in it, and with --prune everything would be removed.`, {
        hint: 'Name the folder with your files, or leave --prune out.',
      })
    return importInto(host, flags, { bundle }).catch((thrown: unknown) => {
      throw placed(thrown, place)
    })
  })
}

/** What is wrong with a tool is told by where it stands in the files. */
function placed(thrown: unknown, place: ReturnType<typeof readBundleFolder>['place']): unknown {
  if (!(thrown instanceof TooldexError)) return thrown
  const problems = thrown.problems.map((problem) => {
    const [, index, rest = ''] = /^\/bundle\/tools\/(\d+)(.*)$/s.exec(problem.pointer ?? '') ?? []
    const path = rest.split('/').slice(1)
    const names = path.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    return index === undefined ? problem : place(problem, Number(index), names)
  })
  return new TooldexError(thrown.code, thrown.message, { problems, hint: thrown.hint })
}
