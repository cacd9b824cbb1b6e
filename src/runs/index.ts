export { createRunner, type Runner } from './create-runner.ts'
export { IdempotencyKeys } from './idempotency-keys.ts'
