import { exportClient, installClient, uninstallClient } from './clients/install-client.ts'
import { databaseStatus, migrateDatabase } from './database/database-status.ts'
import { backupDatabase, exportDatabase, importDatabase } from './database/dump-database.ts'
import { evalCatalog, mineGoldenSet } from './eval/eval-catalog.ts'
import { evalSearch } from './eval/eval-search.ts'
import { forgetLearning, showLearning } from './learning/manage-learning.ts'
import { lintCatalog } from './lint/lint-catalog.ts'
import { exportAudit, listAudit, verifyAudit, verifyAuditFile } from './registry/audit.ts'
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
import { getForModel, listForModel } from './registry/definitions.ts'
import { createKey, currentKey, listKeys, revokeKey } from './registry/keys.ts'
import { deleteLimit, getLimit, listLimits, putLimit } from './registry/limits.ts'
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
import { deleteToolset, getToolset, listToolsets, listToolsetTools, putToolset } from './registry/toolsets.ts'
import { validateDraft, validateTool } from './registry/validate-tool.ts'
import { diffChange, diffVersions, getVersion, listVersions, rollbackTool } from './registry/versions.ts'
import { callTool } from './runs/call-tool.ts'
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
import { readStoredResult, readWholeResult } from './runs/results.ts'
import { readMetrics, readRunStatistics } from './runs/run-statistics.ts'
import { describeTools } from './search/describe-tools.ts'
import { listTools } from './search/list-tools.ts'
import { searchByAddress, searchTools } from './search/search-tools.ts'
import { importHelp } from './server/import-help.ts'
import { listSources } from './server/list-sources.ts'
import { addEnvironment, buildEnvironment, listEnvironments, removeEnvironment } from './server/python-environments.ts'
import { runDoctor } from './server/run-doctor.ts'
import { validateConfigs } from './server/validate-configs.ts'
import { simulatePolicy } from './simulation/simulate-policy.ts'
import { acceptChangesOf, refuseChangesOf } from './sources/decide-changes.ts'
import { getSignIn, signInSource, signOutSource } from './sources/sign-in.ts'
import { addSource, approveSource, changeSource, getSource, refreshSource, removeSource } from './sources/sources.ts'
import { listOffers, requestOffer } from './upstreams/offers.ts'

/** All operations. Surfaces import the ones they render; docs and tests iterate over the list. */
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
  exportClient,
  runDoctor,
  listEnvironments,
  addEnvironment,
  buildEnvironment,
  removeEnvironment,
  evalSearch,
  evalCatalog,
  lintCatalog,
  showLearning,
  forgetLearning,
  listSources,
  addSource,
  getSource,
  approveSource,
  changeSource,
  refreshSource,
  acceptChangesOf,
  refuseChangesOf,
  removeSource,
  signInSource,
  getSignIn,
  signOutSource,
  listOffers,
  requestOffer,
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
  verifyAudit,
  exportAudit,
  verifyAuditFile,
  listVersions,
  getVersion,
  diffVersions,
  diffChange,
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
  listToolsets,
  getToolset,
  putToolset,
  deleteToolset,
  listToolsetTools,
  listLimits,
  getLimit,
  putLimit,
  deleteLimit,
  simulatePolicy,
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
  readRunStatistics,
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
