export { createHelpRunner } from './create-help-runner.ts'
export { draftConfig } from './draft-config.ts'
