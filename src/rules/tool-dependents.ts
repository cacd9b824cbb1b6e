import type { Dependents } from '../diagnostics/diagnose.ts'

// A map: paths contain keys of the input, such as `constructor`, which every object has.
const dependents: ReadonlyMap<string, readonly string[]> = new Map([
  ['executorType', ['executorConfig', 'scriptContent']],
  ['inputSchema', ['executorConfig', 'examples']],
  // A script that could not be read is not a missing one.
  ['scriptFile', ['scriptContent']],
])

/** The fields of a tool that cannot be checked if another one is invalid, wherever the tool is in the input. */
export const toolDependents: Dependents = (path) =>
  (dependents.get(path.at(-1) ?? '') ?? []).map((field) => [...path.slice(0, -1), field])
