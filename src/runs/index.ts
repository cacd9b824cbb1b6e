export { createRunner, type Runner } from './create-runner.ts'
export { readResultAside } from './output-threads.ts'
export { RecordedRuns } from './recorded-runs.ts'
export { defaultRunSettings, type RunSettings } from './settings.ts'
