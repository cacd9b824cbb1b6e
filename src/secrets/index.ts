export { openSecrets } from './open-secrets.ts'
export { createRedactor } from './redact-values.ts'
export { createSecretBox, type SecretKeySource } from './secret-box.ts'
