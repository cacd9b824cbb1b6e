export { createSecretBox, openSecrets, type SecretKeySource } from './open-secrets.ts'
export { createRedactor } from './redact-values.ts'
