import { JSONPathEnvironment, JSONPathError } from 'json-p3'
import { TooldexError } from '../../base/errors.ts'
import { compileSearchPattern } from '../../base/pattern.ts'
import { OutOfBudget, WorkBudget } from '../../base/work-budget.ts'

const patternSteps = 60_000_000
const environment = new JSONPathEnvironment()
// The functions with a regular expression use patterns whose steps are counted.
for (const [name, wrap] of [
  ['match', (pattern: string) => `^(?:${pattern})$`],
  ['search', (pattern: string) => pattern],
] as const) {
  const original = environment.functionRegister.get(name)
  if (original === undefined) continue
  environment.functionRegister.set(name, {
    ...original,
    argTypes: original.argTypes,
    returnType: original.returnType,
    call: (text: unknown, pattern: unknown) =>
      typeof text === 'string' && typeof pattern === 'string' && test(wrap(pattern), text),
  })
}

// A query runs synchronously, so one budget at a time is enough.
let budget = new WorkBudget(0)

function test(pattern: string, text: string): boolean {
  try {
    return compileSearchPattern(pattern, budget).test(text, budget)
  } catch (error) {
    if (error instanceof OutOfBudget) throw error
    return false
  }
}

/** All values that a JSONPath (RFC 9535) selects. */
export function findByPath(value: unknown, path: string): readonly unknown[] {
  budget = new WorkBudget(patternSteps)
  try {
    return environment.query(path, value as never).values()
  } catch (error) {
    if (error instanceof OutOfBudget)
      throw new TooldexError('INPUT_INVALID', `The path takes too long on this value (${error.where}).`, {
        hint: 'Use a simpler pattern, or a path that selects fewer values.',
      })
    if (!(error instanceof JSONPathError)) throw error
    throw new TooldexError('INPUT_INVALID', `The path is not a valid JSONPath: ${error.message.slice(0, 200)}.`, {
      hint: 'Write a JSONPath such as $.items[*].name',
    })
  }
}
