import swc from '@swc/wasm-typescript'
import type { ProgramError } from './program-messages.ts'

/** Each program is the body of a function, so that it can return and await. */
const before = '(async () => {\n'
const after = '\n})'
const linesBefore = 1

/** A program as JavaScript at the same positions, or its syntax error. */
export type StrippedProgram = { readonly source: string } | { readonly error: ProgramError }

/** Removes the types of a program; throws where the compiler itself fails. */
export function stripTypes(code: string): StrippedProgram {
  if (code.includes('\0')) return { error: { message: 'it contains a NUL character' } }
  try {
    const { code: source } = swc.transformSync(`${before}${code}${after}`, { mode: 'strip-only', sourceMap: false })
    return { source }
  } catch (thrown) {
    const { message, startLine, startColumn } = (thrown ?? {}) as Readonly<Record<string, unknown>>
    if (typeof message !== 'string' || typeof startLine !== 'number') throw thrown
    return { error: { message, ...inProgram(code, startLine, Number(startColumn) + 1) } }
  }
}

/** The position in the program of a position in its wrapped text. */
export function inProgram(code: string, line: number, column: number): { line: number; column: number } {
  const lines = code.split('\n')
  const own = line - linesBefore
  return own <= lines.length
    ? { line: Math.max(own, 1), column }
    : { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
}
