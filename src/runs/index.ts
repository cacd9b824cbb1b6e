export { createRunner, type Runner } from './create-runner.ts'
export { readResultInWorker } from './output-threads.ts'
export { RecordedRuns } from './recorded-runs.ts'
export { defaultRunSettings, type RunSettings } from './settings.ts'
