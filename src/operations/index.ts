import { callTool } from './call-tool.ts'
import { backupDatabase } from './database/backup-database.ts'
import { databaseStatus } from './database/database-status.ts'
import { exportDatabase } from './database/export-database.ts'
import { importDatabase } from './database/import-database.ts'
import { migrateDatabase } from './database/migrate-database.ts'
import { describeTools } from './describe-tools.ts'
import { evalCatalogue } from './eval-catalogue.ts'
import { evalSearch } from './eval-search.ts'
import { importHelp } from './import-help.ts'
import { installClient, uninstallClient } from './install-client.ts'
import { forgetLearning, showLearning } from './learning/manage-learning.ts'
import { lintCatalogue } from './lint-catalogue.ts'
import { listSources } from './list-sources.ts'
import { listTools } from './list-tools.ts'
import { mineGoldenSet } from './mine-golden-set.ts'
import { addEnvironment, buildEnvironment, listEnvironments, removeEnvironment } from './python-environments.ts'
import { exportBundle, importBundle } from './registry/bundles.ts'
import {
  categoryTree,
  changeCategory,
  createCategory,
  deleteCategory,
  getCategory,
  listCategories,
  listTags,
  renameTag,
} from './registry/categories.ts'
import { validateDraft, validateTool } from './registry/check.ts'
import { createKey, currentKey, listAudit, listKeys, revokeKey } from './registry/keys.ts'
import { getForModel, listForModel } from './registry/llm.ts'
import { deletePolicy, getPolicy, listPolicies, putPolicy } from './registry/policies.ts'
import {
  acceptProposal,
  getProposal,
  listProposals,
  proposeChange,
  refuseProposal,
  replayProposal,
} from './registry/proposals.ts'
import { listSecrets, putSecret, removeSecret } from './registry/secrets.ts'
import { readStats } from './registry/stats.ts'
import { readDoc } from './registry/tool-doc.ts'
import {
  activateTool,
  changeTool,
  createTool,
  deactivateTool,
  deleteTool,
  deprecateTool,
  getTool,
  listRegistered,
  reactivateTool,
  undeprecateTool,
} from './registry/tools.ts'
import { diffVersions, getVersion, listVersions, rollbackTool } from './registry/versions.ts'
import { runDoctor } from './run-doctor.ts'
import { executeTool, invokeForModel } from './runs/execute.ts'
import {
  approveExecution,
  cancelExecution,
  getExecution,
  listExecutions,
  listExecutionsOfTool,
  readQueue,
  refuseExecution,
} from './runs/executions.ts'
import { readMetrics } from './runs/read-metrics.ts'
import { readStoredResult, readWholeResult } from './runs/results.ts'
import { searchByAddress, searchTools } from './search-tools.ts'
import { validateConfigs } from './validate-configs.ts'

/** Everything a caller can do. Surfaces import the operations they render; docs and tests walk the list. */
export const operations = [
  searchTools,
  searchByAddress,
  describeTools,
  readDoc,
  callTool,
  listTools,
  validateConfigs,
  importHelp,
  installClient,
  uninstallClient,
  runDoctor,
  listEnvironments,
  addEnvironment,
  buildEnvironment,
  removeEnvironment,
  evalSearch,
  evalCatalogue,
  lintCatalogue,
  showLearning,
  forgetLearning,
  listSources,
  readStats,
  mineGoldenSet,
  listRegistered,
  createTool,
  getTool,
  changeTool,
  deleteTool,
  activateTool,
  deactivateTool,
  deprecateTool,
  reactivateTool,
  undeprecateTool,
  validateTool,
  validateDraft,
  categoryTree,
  listCategories,
  createCategory,
  getCategory,
  changeCategory,
  deleteCategory,
  listTags,
  renameTag,
  createKey,
  currentKey,
  listKeys,
  revokeKey,
  listAudit,
  listVersions,
  getVersion,
  diffVersions,
  rollbackTool,
  proposeChange,
  listProposals,
  getProposal,
  replayProposal,
  acceptProposal,
  refuseProposal,
  listForModel,
  getForModel,
  listPolicies,
  getPolicy,
  putPolicy,
  deletePolicy,
  exportBundle,
  importBundle,
  migrateDatabase,
  databaseStatus,
  exportDatabase,
  backupDatabase,
  importDatabase,
  executeTool,
  invokeForModel,
  listExecutions,
  listExecutionsOfTool,
  getExecution,
  cancelExecution,
  approveExecution,
  refuseExecution,
  readQueue,
  readMetrics,
  readStoredResult,
  readWholeResult,
  listSecrets,
  putSecret,
  removeSecret,
] as const
