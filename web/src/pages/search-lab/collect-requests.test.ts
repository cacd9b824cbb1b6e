import { expect, it } from 'vitest'
import { addLines, readEvalSet } from './collect-requests.ts'

it('reads an evaluation set, and adds each of its requests once', () => {
  const set =
    '{"id":"1","query":"show\\ncommits","relevant":["git:git_log"]}\n\nnot JSON\n{"query":"nothing","relevant":[]}\n'
  const requests = readEvalSet(set)
  expect(requests).toEqual([{ query: 'show\ncommits', tools: ['git:git_log'] }])
  const text = addLines('free space => df\n', requests)
  expect(text).toBe('free space => df\nshow commits => git:git_log')
  expect(addLines(text, requests)).toBe(text)
})
