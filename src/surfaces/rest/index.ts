export { createRestApp } from './create-app.ts'
export { KeyWatch } from './key-watch.ts'
