import { expect, it } from 'vitest'
import { guessAnnotations } from './guesses.ts'

it.each([
  ['List the entries of an archive.', { read_only: true }],
  ['Shows the status', { read_only: true }],
  ['Remove one or more containers', { destructive: true }],
  ['Listen for connections', undefined],
  ['Create an archive', undefined],
])('%s', (description, annotations) => {
  expect(guessAnnotations({ description })).toEqual(annotations)
})
