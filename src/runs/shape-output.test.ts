import { expect, it } from 'vitest'
import { failedOutcome } from './create-runner.ts'
import { defaultRunSettings } from './settings.ts'
import { shapeOutput } from './shape-output.ts'

const shaped = async (outcome: Parameters<typeof shapeOutput>[0]) =>
  (await shapeOutput(outcome, false, defaultRunSettings)).outputData

it('records no output of a run in which nothing ran', async () => {
  const outcome = failedOutcome('COMMAND_NOT_FOUND', 'There is no such command.')
  expect(await shaped(outcome)).toBeNull()
  expect(await shaped({ ...outcome, output: '' })).toBeNull()
})

it('records the empty output of a command that printed nothing', async () => {
  const { result, ...rest } = failedOutcome('COMMAND_FAILED', 'It failed.')
  expect(await shaped({ ...rest, result: { ...result, exitCode: 1 } })).toBe('')
  expect(await shaped({ ...rest, result: { ...result, signal: 'SIGKILL' } })).toBe('')
  expect(await shaped({ ...rest, status: 'SUCCESS', result: { ...result, exitCode: 0 } })).toBe('')
  expect(await shaped({ ...rest, result: { ...result, stdout: 'half' } })).toBe('half')
})
