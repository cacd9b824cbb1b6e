import { type Problem, toPointer } from '../../base/problem.ts'
import { didYouMean } from '../../base/suggest.ts'
import { annotationAliases, annotationNames, toMcpNames } from '../../contract/annotations.ts'
import type { ToolAnnotations } from '../../contract/catalog.ts'

/** Annotations that clients cannot use: invalid values are errors, unknown names are warnings. */
export function checkAnnotations(annotations: ToolAnnotations): readonly Problem[] {
  const entries = Object.entries(toMcpNames(annotations))
  return entries.filter(([key, value]) => !isUsable(key, value)).map(([key, value]) => toProblem(key, value))
}

/** The values of MCP names are validated by the schema of a tool. */
const isUsable = (key: string, value: unknown): boolean =>
  annotationNames.includes(key) && (key !== 'requiresApproval' || typeof value === 'boolean')

function toProblem(key: string, value: unknown): Problem {
  const pointer = toPointer(['annotations', key])
  const name = annotationNames.includes(key) ? key : annotationAliases.get(key)
  if (name === undefined) {
    const meant = didYouMean(key, [...annotationNames, ...annotationAliases.keys()])
    const hint = `the known annotations are: ${annotationNames.join(', ')}`
    return { severity: 'warning', pointer, message: `unknown annotation '${key}'.${meant}`, hint }
  }
  if (typeof value !== 'boolean')
    return { severity: 'error', pointer, message: `${key} must be true or false`, hint: `write "${name}": true` }
  return { severity: 'error', pointer, message: `'${key}' duplicates '${name}'`, hint: 'keep one of them' }
}
