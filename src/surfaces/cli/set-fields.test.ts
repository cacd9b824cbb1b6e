import { describe, expect, it } from 'vitest'
import type { RegisteredTool } from '../../contract/registry.ts'
import { setToolFields } from './commands/registry/tool-editing.ts'

const tool = {
  executorConfig: { url: 'https://a.example/{x}', headers: { accept: 'text/plain' } },
  tags: ['a', 'b'],
  examples: [{ input: { x: 1 } }],
  summary: 'Short.',
} as unknown as RegisteredTool

describe('--set', () => {
  it.each([
    [['displayName=Send: a = b'], { displayName: 'Send: a = b' }],
    [['display_name=007'], { displayName: '007' }],
    [['summary='], { summary: null }],
    [['summary=null', 'category=null'], { summary: null, category: null }],
    [['tags=[x, y]'], { tags: ['x', 'y'] }],
    [['annotations={"readOnly": true}'], { annotations: { readOnly: true } }],
    [['executorConfig.timeoutMs=5000'], { executorConfig: { ...tool.executorConfig, timeoutMs: 5000 } }],
    [
      ['executorConfig.headers.x-team=ops', 'executor_config.headers.accept=text/html'],
      { executorConfig: { url: tool.executorConfig.url, headers: { accept: 'text/html', 'x-team': 'ops' } } },
    ],
    [['tags.1=c', 'tags.2=d'], { tags: ['a', 'c', 'd'] }],
    [['examples.0.input.x=2'], { examples: [{ input: { x: 2 } }] }],
    [['notes.a=1'], { notes: { a: 1 } }],
  ])('%j', (words, changed) => {
    expect(setToolFields(words, tool)).toEqual(changed)
    expect(tool.tags).toEqual(['a', 'b'])
  })

  it.each([['name'], ['=x'], ['a..b=1'], ['executorConfig.__proto__=1'], ['tags.7=x'], ['tags.x=1'], ['summary.x=1']])(
    'refuses %s',
    (word) => {
      expect(() => setToolFields([word], tool)).toThrow(expect.objectContaining({ code: 'USAGE' }))
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    },
  )

  it('rejects text that is not YAML', () => {
    expect(() => setToolFields(['tags=[a'], tool)).toThrow(/--set tags=\[a: /)
  })
})
