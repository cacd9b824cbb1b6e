import { catalogAnswers } from './answers-catalog.ts'
import { registryAnswers } from './answers-registry.ts'
import { ids, waitingExecution } from './example-parts.ts'

/** What each operation answers when all is well, by the operation's name. */
export const answerExamples: Readonly<Record<string, unknown>> = { ...registryAnswers, ...catalogAnswers }

/** What is answered where something is taken and not done yet. */
export const takenExamples: Readonly<Record<string, unknown>> = { 'tools.execute': waitingExecution }

/** What a refusal looks like: all that is wrong at once, each with its place and a way out. */
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
