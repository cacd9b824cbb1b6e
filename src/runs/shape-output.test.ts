import { expect, it } from 'vitest'
import { failure } from './create-runner.ts'
import { defaultRunSettings } from './settings.ts'
import { shapeOutput } from './shape-output.ts'

const shaped = (outcome: Parameters<typeof shapeOutput>[0]) =>
  shapeOutput(outcome, false, defaultRunSettings).outputData

it('records no output of a run in which nothing ran', () => {
  const outcome = failure('COMMAND_NOT_FOUND', 'There is no such command.')
  expect(shaped(outcome)).toBeNull()
  expect(shaped({ ...outcome, output: '' })).toBeNull()
})

it('records the empty output of a command that printed nothing', () => {
  const { result, ...rest } = failure('COMMAND_FAILED', 'It failed.')
  expect(shaped({ ...rest, result: { ...result, exitCode: 1 } })).toBe('')
  expect(shaped({ ...rest, result: { ...result, signal: 'SIGKILL' } })).toBe('')
  expect(shaped({ ...rest, status: 'SUCCESS', result: { ...result, exitCode: 0 } })).toBe('')
  expect(shaped({ ...rest, result: { ...result, stdout: 'half' } })).toBe('half')
})
