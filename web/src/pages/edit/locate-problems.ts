import { findNodeAtLocation, parseTree } from 'jsonc-parser'
import type { Problem } from 'tooldex/client'
import type { ToolForm } from './tool-form.ts'

const jsonFields = ['inputSchema', 'executorConfig'] as const
const maxProblems = 200

/** The problems of one field, with the line of the text of the field where it can be found. */
export function locateProblems(
  problems: readonly Problem[],
  field: keyof ToolForm,
  form: ToolForm,
): readonly Problem[] {
  const own = problems.slice(0, maxProblems).filter(({ pointer }) => fieldOf(pointer) === field)
  const name = jsonFields.find((each) => each === field)
  if (name === undefined || own.length === 0) return own
  const text = form[name]
  const root = parseTree(text)
  return own.map((problem) => {
    if (problem.line !== undefined || root === undefined) return problem
    // The nearest part that exists: a missing key has no line of its own.
    const path = segmentsOf(problem.pointer).slice(1)
    for (let length = path.length; length >= 0; length--) {
      const steps = path.slice(0, length).map((step) => (/^\d+$/.test(step) ? [step, Number(step)] : [step]))
      const node = findStep(root, steps)
      if (node !== undefined) return { ...problem, line: text.slice(0, node.offset).split('\n').length }
    }
    return problem
  })
}

/** A step of digits is an index or a key. */
function findStep(root: NonNullable<ReturnType<typeof parseTree>>, steps: readonly (readonly (string | number)[])[]) {
  let node: typeof root | undefined = root
  for (const choices of steps) {
    const parent: typeof root = node
    const found = choices.map((choice) => findNodeAtLocation(parent, [choice])).find((each) => each !== undefined)
    if (found === undefined) return undefined
    node = found
  }
  return node
}

/** The field that a pointer is in. */
export const fieldOf = (pointer: string | undefined): string => segmentsOf(pointer)[0] ?? ''

const segmentsOf = (pointer = ''): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
