import { catalogAnswers } from './answers-catalog.ts'
import { registryAnswers } from './answers-registry.ts'
import { ids, waitingExecution } from './example-parts.ts'

/** Example responses of all operations, by operation name. */
export const answerExamples: Readonly<Record<string, unknown>> = { ...registryAnswers, ...catalogAnswers }

/** Example responses with status 202. */
export const takenExamples: Readonly<Record<string, unknown>> = { 'tools.execute': waitingExecution }

/** An example error response with all problems, their locations and hints. */
export const problemExample = {
  type: 'urn:tooldex:error:INPUT_INVALID',
  title: 'Input invalid',
  status: 422,
  detail:
    "registry.create: name: must contain only lower-case letters, digits and underscores, such as send_report; the input schema has no parameter 'city'.",
  code: 'INPUT_INVALID',
  hint: 'Compare the arguments with the input schema.',
  retryable: false,
  errors: [
    {
      severity: 'error',
      pointer: '/name',
      message: 'name: must contain only lower-case letters, digits and underscores, such as send_report',
      hint: 'write it like send_report',
    },
    {
      severity: 'error',
      pointer: '/executorConfig/url',
      message: "the input schema has no parameter 'city'.",
      hint: 'add it to the input schema',
    },
  ],
  requestId: ids.request,
}
