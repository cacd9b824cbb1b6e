import { TooldexError } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import type { Bundle } from '../../contract/bundle.ts'
import { maxProblems, toProblemError } from '../../diagnostics/problem-error.ts'
import { dropDependentProblems } from '../../operations/checks/check-remainder.ts'
import { importBundle } from '../../operations/registry/bundles.ts'
import { type BundleRefused, checkInputKeys } from '../../sources/bundle/index.ts'
import type { RegistryClient } from './host.ts'

type Place = (problem: Problem) => Problem
type WithRegistry = <Result>(work: (registry: RegistryClient) => Promise<Result>) => Promise<Result>

/** The refusal of a bundle with the places of its files in the place of pointers. */
export function toPlaces(thrown: unknown, place: Place): unknown {
  if (!(thrown instanceof TooldexError)) return thrown
  const problems = thrown.problems.map((problem) => (isInBundle(problem) ? place(outOfInput(problem)) : problem))
  return inFiles(thrown, problems)
}

/** The same error with problems that are placed in files: a person fixes those. */
export function inFiles({ code, message, hint, personHint }: TooldexError, problems: readonly Problem[]): TooldexError {
  const files = new Set(problems.flatMap(({ file }) => file ?? []))
  const isOfFiles = files.size > 0 && (code === 'INPUT_INVALID' || code === 'TOOL_INVALID')
  const fix = `Mend the file${files.size === 1 ? '' : 's'}, then run the same command again.`
  return new TooldexError(code, message, { problems, hint, personHint: isOfFiles ? fix : personHint })
}

/** The refusal of files for their shape, with what else is wrong with their tools. */
export async function validateRejected(refused: BundleRefused, withRegistry: WithRegistry): Promise<TooldexError> {
  const { rest, found, source } = refused
  if (rest === undefined || rest.bundle.tools.length === 0) return refused
  const judged = await queryFor(rest.bundle, withRegistry)
  // What the files are to each other was found where they were read, and with their places.
  const known = new Set(checkInputKeys(rest.bundle).map(toKey))
  const others = dropDependentProblems(
    judged.filter((problem) => !known.has(toKey(problem))),
    rest.wrong,
  ).map((problem) => rest.place(problem))
  const problems = [...found, ...others].sort(byPlace)
  return toProblemError({ code: 'BUNDLE_INVALID', what: source, problems, more: judged.length >= maxProblems })
}

const toKey = ({ pointer, message }: Problem): string => `${pointer}\n${message}`

/** What a registry would refuse the tools for; a registry that cannot be asked leaves what is known already. */
async function queryFor(bundle: Bundle, withRegistry: WithRegistry): Promise<readonly Problem[]> {
  try {
    await withRegistry((registry) => registry.invoke(importBundle, { bundle, dryRun: true }))
    return []
  } catch (thrown) {
    if (!(thrown instanceof TooldexError)) throw thrown
    return thrown.problems.filter(isInBundle).map(outOfInput)
  }
}

const isInBundle = ({ pointer }: Problem) => pointer?.startsWith('/bundle/tools/') === true
const outOfInput = (problem: Problem): Problem => ({
  ...problem,
  pointer: problem.pointer?.slice('/bundle'.length) ?? '',
})

/** Errors first, in the order of files and lines. */
const byPlace = (a: Problem, b: Problem): number =>
  Number(a.severity === 'warning') - Number(b.severity === 'warning') ||
  compareText(a.file ?? '', b.file ?? '') ||
  (a.line ?? 0) - (b.line ?? 0) ||
  (a.column ?? 0) - (b.column ?? 0)

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
