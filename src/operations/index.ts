import { callTool } from './call-tool.ts'
import { databaseStatus } from './database/database-status.ts'
import { exportDatabase } from './database/export-database.ts'
import { importDatabase } from './database/import-database.ts'
import { migrateDatabase } from './database/migrate-database.ts'
import { describeTools } from './describe-tools.ts'
import { evalSearch } from './eval-search.ts'
import { importHelp } from './import-help.ts'
import { installClient } from './install-client.ts'
import { lintCatalogue } from './lint-catalogue.ts'
import { listTools } from './list-tools.ts'
import { manageLearning } from './manage-learning.ts'
import { mineGoldenSet } from './mine-golden-set.ts'
import { runDoctor } from './run-doctor.ts'
import { searchTools } from './search-tools.ts'
import { validateConfigs } from './validate-configs.ts'

/** Everything a caller can do. Surfaces import the operations they render; docs and tests walk the list. */
export const operations = [
  searchTools,
  describeTools,
  callTool,
  listTools,
  validateConfigs,
  importHelp,
  installClient,
  runDoctor,
  evalSearch,
  lintCatalogue,
  manageLearning,
  mineGoldenSet,
  migrateDatabase,
  databaseStatus,
  exportDatabase,
  importDatabase,
] as const
