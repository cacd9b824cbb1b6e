import { TooldexError } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import type { Bundle } from '../../contract/bundle.ts'
import { independentOf } from '../../diagnostics/diagnose.ts'
import { byLocation } from '../../diagnostics/finding.ts'
import { maxProblems, toProblemError } from '../../diagnostics/problem-error.ts'
import { importBundle } from '../../operations/registry/bundles.ts'
import { toolDependents } from '../../rules/tool-dependents.ts'
import { checkBundleData, type ReadBundle } from '../../sources/bundle/index.ts'
import type { RegistryClient } from './host.ts'

type Locate = (problem: Problem) => Problem
type WithRegistry = <Result>(work: (registry: RegistryClient) => Promise<Result>) => Promise<Result>

/** Replaces the pointers of a rejected bundle by locations in its files. */
export function toLocations(thrown: unknown, locate: Locate): unknown {
  if (!(thrown instanceof TooldexError)) return thrown
  const problems = thrown.problems.map((problem) => (isInBundle(problem) ? locate(outOfInput(problem)) : problem))
  return inFiles(thrown, problems)
}

/** The same error with problems located in files, and a hint to fix those files. */
export function inFiles({ code, message, hint, personHint }: TooldexError, problems: readonly Problem[]): TooldexError {
  const files = new Set(problems.flatMap(({ file }) => file ?? []))
  const isOfFiles = files.size > 0 && (code === 'INPUT_INVALID' || code === 'TOOL_INVALID')
  const fix = `Fix the file${files.size === 1 ? '' : 's'}, then run the same command again.`
  return new TooldexError(code, message, { problems, hint, personHint: isOfFiles ? fix : personHint })
}

/** The error for malformed files, with the problems that the registry finds in their valid part. */
export async function rejectFiles(
  folder: string,
  { bundle, problems: found, wrong, place }: ReadBundle,
  withRegistry: WithRegistry,
): Promise<TooldexError> {
  const reported = bundle.tools.length === 0 ? [] : await validateBundle(bundle, withRegistry)
  // Problems between files were already found during reading, with their locations.
  const alreadyFound = new Set(checkBundleData(bundle).map(toKey))
  const isIndependent = independentOf(wrong, toolDependents)
  const others = reported.filter((problem) => !alreadyFound.has(toKey(problem)) && isIndependent(problem.pointer))
  const problems = [...found, ...others.map(place)].sort(byFile)
  return toProblemError({ code: 'BUNDLE_INVALID', what: folder, problems, more: reported.length >= maxProblems })
}

const toKey = ({ pointer, message }: Problem): string => `${pointer}\n${message}`

/** Returns the problems that a registry reports for a bundle; none if the registry is unavailable. */
async function validateBundle(bundle: Bundle, withRegistry: WithRegistry): Promise<readonly Problem[]> {
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
const byFile = (a: Problem, b: Problem): number =>
  Number(a.severity === 'warning') - Number(b.severity === 'warning') ||
  compareText(a.file ?? '', b.file ?? '') ||
  byLocation(a, b)

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
