export { createRedactor } from './create-redactor.ts'
export { openSecrets } from './open-secrets.ts'
export { createSecretBox, type SecretKeySource } from './secret-box.ts'
