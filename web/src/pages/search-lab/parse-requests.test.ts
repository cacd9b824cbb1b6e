import { expect, it } from 'vitest'
import { parseRequests } from './parse-requests.ts'

it('reads a request and its tools from each line, and reports lines that are none', () => {
  const text = '# golden\nshow commits => git_log, git_show\n\nno tool =>\nno arrow\na => b => git_diff'
  expect(parseRequests(text)).toEqual({
    requests: [
      { query: 'show commits', tools: ['git_log', 'git_show'] },
      { query: 'a => b', tools: ['git_diff'] },
    ],
    wrongLines: [4, 5],
  })
})
