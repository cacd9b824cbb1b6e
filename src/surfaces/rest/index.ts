export { createRestApp } from './create-app.ts'
