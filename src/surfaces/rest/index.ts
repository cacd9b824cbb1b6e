export { createRestApp } from './create-app.ts'
export { plainProblem } from './plain-problem.ts'
export { problemResponse } from './problem-response.ts'
