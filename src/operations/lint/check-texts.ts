import type { JsonObject } from '../../base/json-values.ts'
import { readParameters, type SchemaParameters } from '../../json-schema/read-parameters.ts'
import { splitIdentifiers } from '../../search/split-identifiers.ts'
import { type LintFinding, type LintTool, lintLimits } from './finding.ts'

/** Checks the texts that a model reads to choose and call a tool: descriptions of the tool and its arguments. */
export function checkTexts(tool: LintTool): readonly LintFinding[] {
  const parameters = readParameters(tool.inputSchema)
  return [...description(tool), ...undescribed(tool, parameters), ...manyArguments(tool, parameters)]
}

function description({ toolName: tool, description: text }: LintTool): LintFinding[] {
  const hint = 'State in one sentence what it does and what it returns.'
  const words = splitIdentifiers(text).length
  if (words === 0) {
    return [{ rule: 'missing-description', severity: 'error', tool, message: 'has no description', hint }]
  }
  if (text.trim().length >= lintLimits.descriptionLength && words >= lintLimits.descriptionWords) return []
  const message = `${JSON.stringify(text)} is too short to choose the tool by`
  return [{ rule: 'short-description', severity: 'warning', tool, message, hint }]
}

function undescribed({ toolName: tool }: LintTool, { properties }: SchemaParameters): LintFinding[] {
  const names = [...properties].filter(([, property]) => !hasDescription(property))
  if (names.length === 0) return []
  const message = `no description for ${names.map(([name]) => name).join(', ')}`
  const hint = 'Describe each argument, with an example if its format matters.'
  return [{ rule: 'undescribed-arguments', severity: 'warning', tool, message, hint }]
}

function manyArguments({ toolName: tool }: LintTool, { properties }: SchemaParameters): LintFinding[] {
  const count = properties.size
  if (count <= lintLimits.arguments) return []
  const message = `takes ${count} arguments`
  return [
    { rule: 'many-arguments', severity: 'info', tool, message, hint: 'Remove rarely used ones, or split the tool.' },
  ]
}

const hasDescription = ({ description: text }: JsonObject): boolean => typeof text === 'string' && text.trim() !== ''
