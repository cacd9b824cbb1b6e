import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Bundle } from '../../contract/bundle.ts'
import { anyBundle } from './any-bundle.suite.ts'
import { readBundle } from './read-bundle-in-worker.ts'
import { writeBundle } from './write-bundle.ts'

const bundle = Bundle.parse({
  tooldex: 1,
  categories: [
    { name: 'pods', parent: 'kubernetes' },
    { name: 'kubernetes', description: 'Clusters: all of them' },
  ],
  tools: [
    {
      name: 'restart',
      displayName: 'Restart',
      description: 'Restarts a pod.',
      category: 'pods',
      status: 'ACTIVE',
      inputSchema: { type: 'object', properties: { pod: { type: 'string', default: '1' } } },
      scriptContent: 'def main(pod):\n\n    return pod  # done\n',
    },
    { name: 'list', displayName: 'List', description: 'no', tags: ['a b', '1'], inputSchema: {} },
  ],
  policies: [{ name: 'p', policy: { tools: { list: {} }, callers: ['ops'] } }],
})

describe('writeBundle', () => {
  it('writes names in order, keys in order, no defaults, and scripts as blocks', () => {
    expect(writeBundle(bundle, 'yaml')).toBe(`tooldex: 1
categories:
  - name: kubernetes
    description: "Clusters: all of them"
  - name: pods
    parent: kubernetes
tools:
  - name: list
    displayName: List
    tags:
      - a b
      - "1"
    description: "no"
    inputSchema: {}
  - name: restart
    displayName: Restart
    category: pods
    status: ACTIVE
    description: Restarts a pod.
    inputSchema:
      type: object
      properties:
        pod:
          type: string
          default: "1"
    scriptContent: |
      def main(pod):

          return pod  # done
policies:
  - name: p
    policy:
      tools:
        list:
          args: {}
      callers:
        - ops
`)
  })

  it.each(['yaml', 'json'] as const)('reads back the same bundle from %s, whatever is in it', (format) => {
    fc.assert(
      fc.property(anyBundle, (any) => {
        const written = writeBundle(any, format)
        // A file is bytes: what UTF-8 does not keep must not be in it.
        const { bundle: read, problems } = readBundle(Buffer.from(written).toString(), { file: `b.${format}` })
        expect(problems).toEqual([])
        expect(JSON.stringify(read)).toBe(JSON.stringify(any))
        expect(writeBundle(read, format)).toBe(written)
      }),
      { numRuns: 300 },
    )
  })
})
