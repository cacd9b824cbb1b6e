import { expect } from 'vitest'
import { type ErrorCode, TooldexError } from '../../src/base/errors.ts'
import { createCliSource } from '../../src/sources/cli/index.ts'
import { tempFile } from '../support/temp-folder.ts'

const goodText = 'command: echo\ntools: [{name: good, description: d}]\n'
/** A config with nothing wrong. */
export const good = () => tempFile('good.yaml', goodText)

/** The error of a file that must not load; a good file beside it loads all the same. */
export function refusalOf(file: string, strict = false): TooldexError {
  const { configs, failures } = createCliSource([good(), file], { strict }).load()
  expect(configs.map((loaded) => loaded.config.tools[0]?.name)).toEqual(['good'])
  expect(failures).toHaveLength(1)
  expect(failures[0]?.error).toBeInstanceOf(TooldexError)
  return failures[0]?.error as TooldexError
}

interface Place {
  readonly code?: ErrorCode
  /** `line:column` of each problem, as an editor counts. */
  readonly at: readonly string[]
  readonly says: RegExp
}

/** A text that loads with warnings at these places, and is refused there when read strictly. */
export function expectTolerated(content: string, { at, says }: Place): string {
  const file = tempFile('odd.yaml', content)
  const { configs, failures } = createCliSource([file]).load()
  expect(failures).toEqual([])
  const warnings = configs[0]?.warnings ?? []
  for (const found of [warnings, refusalOf(file, true).problems]) {
    expect(found.map(({ line, column }) => `${line}:${column}`)).toEqual(at)
    expect(found.map(({ message }) => message).join('\n')).toMatch(says)
  }
  expect(new Set(warnings.map(({ severity }) => severity))).toEqual(new Set(['warning']))
  return file
}

/** A text that must be refused, at these places. */
export function expectRefused(content: string | Uint8Array, { code = 'CONFIG_INVALID', at, says }: Place): string {
  const file = tempFile('bad.yaml', content)
  const error = refusalOf(file)
  expect(error.code).toBe(code)
  expect(error.problems.map(({ line, column }) => `${line}:${column}`)).toEqual(at)
  for (const problem of error.problems) expect(problem.file).toBe(file)
  expect(error.problems.map((problem) => problem.message).join('\n')).toMatch(says)
  return file
}
