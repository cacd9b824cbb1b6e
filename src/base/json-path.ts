import { JSONPathEnvironment, JSONPathError } from 'json-p3'
import { TooldexError } from './errors.ts'
import { compileSearchPattern } from './pattern.ts'

const environment = new JSONPathEnvironment()
// The functions that take a regular expression take one that cannot run for ever.
for (const [name, wrap] of [
  ['match', (pattern: string) => `^(?:${pattern})$`],
  ['search', (pattern: string) => pattern],
] as const) {
  const known = environment.functionRegister.get(name)
  if (known === undefined) continue
  environment.functionRegister.set(name, {
    ...known,
    argTypes: known.argTypes,
    returnType: known.returnType,
    call: (text: unknown, pattern: unknown) =>
      typeof text === 'string' && typeof pattern === 'string' && test(wrap(pattern), text),
  })
}

function test(pattern: string, text: string): boolean {
  try {
    return compileSearchPattern(pattern).test(text)
  } catch {
    return false
  }
}

/** Everything that a JSONPath (RFC 9535) finds in a value. */
export function findByPath(value: unknown, path: string): readonly unknown[] {
  try {
    return environment.query(path, value as never).values()
  } catch (error) {
    if (!(error instanceof JSONPathError)) throw error
    throw new TooldexError('INPUT_INVALID', `The path cannot be used: ${error.message.slice(0, 200)}.`, {
      hint: 'Write a JSONPath such as $.items[*].name',
    })
  }
}
