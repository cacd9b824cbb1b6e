import { findNodeAtLocation, parseTree } from 'jsonc-parser'
import type { Problem } from 'tooldex/client'

type Node = NonNullable<ReturnType<typeof parseTree>>

/** Problems with the line of their pointer in a JSON text, without the first segments of the pointer, which name the text. */
export function locateInJson(text: string, problems: readonly Problem[], skipped = 0): readonly Problem[] {
  const root = parseTree(text)
  if (root === undefined) return problems
  return problems.map((problem) => {
    if (problem.line !== undefined) return problem
    // The nearest part that exists: a missing key has no line of its own.
    const path = segmentsOf(problem.pointer).slice(skipped)
    for (let length = path.length; length >= 0; length--) {
      const steps = path.slice(0, length).map((step) => (/^\d+$/.test(step) ? [step, Number(step)] : [step]))
      const node = findStep(root, steps)
      if (node !== undefined) return { ...problem, line: text.slice(0, node.offset).split('\n').length }
    }
    return problem
  })
}

/** A step of digits is an index or a key. */
function findStep(root: Node, steps: readonly (readonly (string | number)[])[]) {
  let node: Node = root
  for (const choices of steps) {
    const parent = node
    const found = choices.map((choice) => findNodeAtLocation(parent, [choice])).find((each) => each !== undefined)
    if (found === undefined) return undefined
    node = found
  }
  return node
}

/** The segments of a JSON pointer. */
export const segmentsOf = (pointer = ''): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
