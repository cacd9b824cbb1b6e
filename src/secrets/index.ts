export { createRedactor } from './create-redactor.ts'
export { openSecrets } from './open-secrets.ts'
export { createSecretBox } from './secret-box.ts'
