import { expect, it } from 'vitest'
import { openApiAsBundle } from './openapi-as-bundle.ts'

const ok = { 200: { description: 'ok' } }
const note = '**Permissions required:** the permission to browse projects.'
const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/api.v1.Secret' } } } }
const repeated = Array.from({ length: 12 }, (_, n) => [
  `/n${n}`,
  {
    get: { operationId: `n${n}`, description: `Returns number ${n}.\n\n${note}\n\n*  browse\n*  read`, responses: ok },
  },
])

const view = openApiAsBundle({
  openapi: '3.1.0',
  info: { title: 'Numbers', version: '1' },
  servers: [{ url: 'https://numbers.example.com' }],
  paths: {
    ...Object.fromEntries(repeated),
    '/html': {
      get: {
        operationId: 'html',
        description: '<p>Reads <b>a</b> file&nbsp;at &lt;path&gt; or <id>.</p>',
        responses: ok,
      },
    },
    '/links': {
      get: { operationId: 'links', description: 'See [the docs](https://example.com/docs).', responses: ok },
    },
    '/secrets': {
      post: { operationId: 'createSecret', description: 'create a Secret', requestBody: body, responses: ok },
    },
    '/other': { post: { operationId: 'createOther', description: 'create', requestBody: body, responses: ok } },
  },
  components: {
    schemas: {
      'api.v1.Secret': { type: 'object', description: 'Secret holds data that must not be shown, such as passwords.' },
    },
  },
})
const { tools } = view.value as { tools: readonly { name: string; description: string; notes: string }[] }
const textOf = (name: string) => tools.find((tool) => tool.name === `numbers_${name}`)

it('texts of operations have no markup, and no URLs of links', () => {
  expect(textOf('html')?.description).toBe('Reads a file at <path> or <id>.')
  expect(textOf('links')?.description).toBe('See the docs.')
})

it('paragraphs of many operations are only in the notes, with their lists', () => {
  expect(textOf('n3')?.description).toBe('Returns number 3.')
  expect(textOf('n3')?.notes).toContain(note)
})

it('a short description is followed by that of the resource that it names', () => {
  expect(textOf('create_secret')?.description).toBe(
    'create a Secret\n\nSecret holds data that must not be shown, such as passwords.',
  )
  expect(textOf('create_other')?.description).toBe('create')
})
