import * as z from 'zod'
import { toPointer } from '../../base/problem.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import { findCategoryNameProblem, type RegisteredTool, ToolContent } from '../../contract/registry.ts'
import { diagnose } from '../../diagnostics/diagnose.ts'
import type { ToolContext } from '../operation.ts'
import { readableNames } from '../search/tool-view.ts'
import type { LintFinding } from './finding.ts'

const pageRows = 500
const hint =
  'It was stored under earlier rules; it stays readable, and the next write is rejected unless it fixes this.'

/** Violations of the current rules in stored rows that a caller may read: tools in every state, categories and policies. */
export async function lintStored(context: ToolContext): Promise<readonly LintFinding[]> {
  if (context.registry === undefined) return []
  const { stores } = context.registry
  const { workspace } = context.caller
  const names = await readableNames(context)
  const findings: LintFinding[] = []
  const rest = yieldTurns(context.signal)
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = await stores.tools.list(workspace, { limit: pageRows, sort: 'name', cursor, ...(names && { names }) })
    for (const tool of page.items) {
      findings.push(...checkTool(tool))
      await rest()
    }
    cursor = page.nextCursor
  }
  for (const { name } of await stores.categories.all(workspace)) {
    const wrong = findCategoryNameProblem(name)
    if (wrong !== undefined) findings.push(toFinding(`category:${name}`, `the name ${wrong}`))
  }
  if (!context.scopes.has('write')) return findings
  for (const { name, refused } of await stores.policies.list(workspace))
    if (refused !== undefined)
      findings.push(
        toFinding(`policy:${name}`, `${refused.reason}; until it is fixed, its callers cannot use any tool`),
      )
  return findings
}

function checkTool(tool: RegisteredTool): readonly LintFinding[] {
  const { id, status: _status, version: _version, createdAt: _created, updatedAt: _updated, ...content } = tool
  const { findings } = diagnose(content, { schema: ToolContent })
  const messages = findings.map(({ path, message }) => `${toPointer(path)}: ${message}`)
  if (!z.uuid().safeParse(id).success) messages.push('/id: the id is not a UUID of RFC 9562')
  return messages.map((message) => toFinding(tool.name, message))
}

const toFinding = (tool: string, message: string): LintFinding => ({
  rule: 'stored-invalid',
  severity: 'error',
  tool,
  message,
  hint,
})
