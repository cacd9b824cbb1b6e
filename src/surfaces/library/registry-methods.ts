import type * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { findUnstorable } from '../../diagnostics/plain-input.ts'
import { toProblemError } from '../../diagnostics/problem-error.ts'
import { exportAudit, listAudit, verifyAudit } from '../../operations/audit/audit.ts'
import type { Operation } from '../../operations/operation.ts'
import { exportBundle, importBundle } from '../../operations/registry/bundles.ts'
import * as categories from '../../operations/registry/categories.ts'
import { listForModel } from '../../operations/registry/definitions.ts'
import { createKey, currentKey, listKeys, revokeKey } from '../../operations/registry/keys.ts'
import * as proposals from '../../operations/registry/proposals.ts'
import * as tools from '../../operations/registry/tools.ts'
import { validateDraft, validateTool } from '../../operations/registry/validate-tool.ts'
import { diffVersions, getVersion, listVersions, rollbackTool } from '../../operations/registry/versions.ts'
import type { RegistryClient } from '../../operations/registry-client/registry-client.ts'
import { executeTool } from '../../operations/runs/execute.ts'
import * as executions from '../../operations/runs/executions.ts'
import { readStoredResult } from '../../operations/runs/results.ts'

/** An input with only optional fields is itself optional. */
type OptionalInput<Input> = Record<string, never> extends Input ? [input?: Input] : [input: Input]

/** The operations of a registry as methods; input and output are those of REST. */
export function toMethods(client: RegistryClient, ending: AbortController) {
  const isClosed = () => ending.signal.aborted
  const method =
    <Input extends z.ZodType, Output extends z.ZodType>(operation: Operation<Input, Output>) =>
    async (...[input]: OptionalInput<z.input<Input>>): Promise<z.output<Output>> => {
      if (isClosed()) throw new TooldexError('UNAVAILABLE', 'The registry is closed.', { hint: 'Open it again.' })
      const problems = findUnstorable(input)
      if (problems.length > 0) throw toProblemError({ code: 'INPUT_INVALID', what: 'The input', problems })
      return client.invoke(operation, (input ?? {}) as Record<string, unknown>)
    }
  return {
    tools: {
      create: method(tools.createTool),
      get: method(tools.getTool),
      list: method(tools.listRegistered),
      change: method(tools.changeTool),
      delete: method(tools.deleteTool),
      activate: method(tools.activateTool),
      deactivate: method(tools.deactivateTool),
      deprecate: method(tools.deprecateTool),
      reactivate: method(tools.reactivateTool),
      undeprecate: method(tools.undeprecateTool),
      validate: method(validateTool),
      validateDraft: method(validateDraft),
      execute: method(executeTool),
      forModel: method(listForModel),
    },
    versions: {
      list: method(listVersions),
      get: method(getVersion),
      diff: method(diffVersions),
      rollback: method(rollbackTool),
    },
    proposals: {
      create: method(proposals.proposeChange),
      list: method(proposals.listProposals),
      get: method(proposals.getProposal),
      replay: method(proposals.replayProposal),
      accept: method(proposals.acceptProposal),
      refuse: method(proposals.refuseProposal),
    },
    categories: {
      create: method(categories.createCategory),
      list: method(categories.listCategories),
      tree: method(categories.categoryTree),
      get: method(categories.getCategory),
      change: method(categories.changeCategory),
      delete: method(categories.deleteCategory),
    },
    tags: { list: method(categories.listTags), rename: method(categories.renameTag) },
    executions: {
      list: method(executions.listExecutions),
      get: method(executions.getExecution),
      cancel: method(executions.cancelExecution),
      result: method(readStoredResult),
    },
    bundles: { export: method(exportBundle), import: method(importBundle) },
    keys: { create: method(createKey), list: method(listKeys), revoke: method(revokeKey), current: method(currentKey) },
    audit: { list: method(listAudit), verify: method(verifyAudit), export: method(exportAudit) },
    /** Cancels running calls and closes the database. */
    async close(): Promise<void> {
      if (isClosed()) return
      ending.abort()
      await client.close()
    },
  }
}
