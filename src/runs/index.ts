export { createRunner, type Runner } from './create-runner.ts'
export { readResult } from './read-result.ts'
export { RecordedRuns } from './recorded-runs.ts'
export { defaultRunSettings, type RunSettings } from './settings.ts'
