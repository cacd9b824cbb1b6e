import { describe, expect, it } from 'vitest'
import {
  Catalog,
  DocStore,
  normalizeDocument,
  toSearchDoc,
  toSemanticDocument,
  toSummary,
} from '../../src/catalog/index.ts'
import { parseTool } from '../../src/catalog/parse-tool.ts'
import { Result, SemanticDocument, Summary } from '../../src/contract/search.ts'
import { ToolDoc } from '../../src/contract/tool-doc.ts'

const fullTool = {
  namespace: 'Git',
  name: 'Commit',
  version: '2',
  title: 'Commit',
  description: 'Record changes to the repository.',
  summary: 'Record changes',
  category: 'VCS',
  inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  outputSchema: { type: 'object' },
  inputModes: ['application/json'],
  outputModes: ['text/plain'],
  securitySummary: 'apiKey, oauth2',
  tags: ['Version Control', 'version-control', 'SCM'],
  exampleRequests: ['save my work'],
}
const local = { kind: 'local', name: 'x' } as const

describe('seed 003: Summary', () => {
  it('has the fields of the table, and never a schema', () => {
    const summary = toSummary(parseTool(fullTool))
    expect(summary).toStrictEqual({
      id: 'Git:Commit:2',
      name: 'Commit',
      namespace: 'Git',
      shortDescription: 'Record changes',
      summary: 'Record changes',
      category: 'VCS',
      inputModes: ['application/json'],
      outputModes: ['text/plain'],
      securitySummary: 'apiKey, oauth2',
      tags: ['version-control', 'scm'],
    })
    expect(Summary.parse(summary)).toEqual(summary)
    expect(JSON.stringify(summary)).not.toContain('chema')
  })

  it('leaves out what a tool does not have', () => {
    expect(toSummary(parseTool({ name: 'a', inputSchema: {} }))).toStrictEqual({
      ...{ id: 'a', name: 'a', shortDescription: '', summary: '' },
      ...{ inputModes: [], outputModes: [], tags: [] },
    })
  })

  it('B3.18: is cut to 120 between characters, from the summary or the description', () => {
    const cut = (texts: object) => toSummary(parseTool({ name: 'a', inputSchema: {}, ...texts }))
    const long = cut({ description: `a${'😀'.repeat(100)}` })
    expect(long.shortDescription).toBe(`a${'😀'.repeat(59)}`)
    expect(long.summary).toBe(long.shortDescription)
    expect(cut({ description: 'x'.repeat(121) }).shortDescription).toBe('x'.repeat(120))
    expect(cut({ description: 'x'.repeat(120) }).shortDescription).toBe('x'.repeat(120))
  })
})

describe('seed 003: SearchDoc', () => {
  it('is a lower case text of all fields, the same for the same tool', () => {
    const doc = toSearchDoc(parseTool(fullTool))
    expect(doc.docText).toBe(
      'commit git record changes to the repository. record changes vcs application/json text/plain version-control scm',
    )
    expect(doc.id).toBe('Git:Commit:2')
    const turned = Object.fromEntries(Object.entries(fullTool).reverse())
    expect(toSearchDoc(parseTool(turned))).toEqual(doc)
  })

  it('does not repeat the description', () => {
    const tool = parseTool({ name: 'a', description: 'Once', summary: 'Once', inputSchema: {} })
    expect(toSearchDoc(tool).docText).toBe('a once')
  })

  it('may not be changed', () => {
    const doc = toSearchDoc(parseTool(fullTool))
    expect(() => doc.summary.tags.push('x')).toThrow(TypeError)
    expect(() => Object.assign(doc, { docText: '' })).toThrow(TypeError)
  })
})

describe('seed 003: ToolDoc', () => {
  it('has at each level what the table says', () => {
    const catalog = new Catalog()
    catalog.register({ ...fullTool, annotations: { readOnlyHint: false } }, local)
    const store = new DocStore({ resolve: (id) => catalog.get(id)?.tool ?? null })
    store.registerDoc('Git:Commit:2', { notes: 'n', externalRefs: ['r'] })
    const fields = (level: 'summary' | 'schema' | 'full') => {
      const doc = store.describe('Git:Commit@2', level)
      expect(ToolDoc.parse(doc)).toEqual(doc)
      return Object.keys(doc)
    }
    const schema = ['summary', 'tool', 'inputModes', 'outputModes', 'securitySummary', 'annotations', 'schemaInfo']
    expect(fields('summary')).toEqual(['summary'])
    expect(fields('schema')).toEqual(schema)
    expect(fields('full')).toEqual([...schema, 'notes', 'examples', 'externalRefs'])
  })
})

describe('seed 003: discovery results', () => {
  it.each(['bm25', 'embedding', 'hybrid'] as const)('carry a summary, a score and the type %s', (scoreType) => {
    const hits = [{ tool: { id: 'Git:Commit:2' }, score: 0.5, scoreType }]
    const catalog = new Catalog({ ranker: { search: () => ({ hits, total: 1 }) } })
    catalog.register(fullTool, local)
    const { results } = catalog.searchPage({ query: 'commit' })
    expect(results).toEqual([{ summary: toSummary(parseTool(fullTool)), score: 0.5, scoreType }])
    expect(Result.parse(results[0])).toEqual(results[0])
  })
})

describe('seed 003: semantic documents', () => {
  it('are made of a tool', () => {
    const document = toSemanticDocument(parseTool(fullTool))
    expect(document).toStrictEqual({
      id: 'Git:Commit:2',
      namespace: 'Git',
      name: 'Commit',
      description: 'Record changes to the repository.',
      category: 'VCS',
      tags: ['scm', 'version-control'],
      text: 'Commit Record changes to the repository. scm version-control Git VCS',
    })
    expect(SemanticDocument.parse(document)).toEqual(document)
  })

  it('are normalized: tags lower case, trimmed, sorted, none twice, the text built, once and for all', () => {
    const raw = { id: 'a', name: 'a', description: 'd', tags: [' B', 'a', 'b ', ''], text: 'stale' }
    const normal = normalizeDocument(raw)
    expect(normal).toEqual({ ...raw, tags: ['a', 'b'], text: 'a d a b' })
    expect(normalizeDocument(normal)).toEqual(normal)
    expect(raw.tags).toEqual([' B', 'a', 'b ', ''])
  })
})
