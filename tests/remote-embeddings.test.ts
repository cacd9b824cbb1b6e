import { readdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { describeEmbedder, embedderQueries, embedderTools } from '../src/search/embedder.suite.ts'
import { RemoteEmbedder } from '../src/search/index.ts'
import { eventually } from './support/keys.ts'
import { runCli } from './support/run-cli.ts'
import { tempFile, tempFolder } from './support/temp-folder.ts'

const config = `
name: zoo
command: echo
tools:
  - { name: feed_lion, description: Give meat to the big cat }
  - { name: wash_elephant, description: Clean the grey animal }
  - { name: count_birds, description: How many birds there are }
`
// A service that knows one thing: requests about simba mean the lion.
const meaningOf = (text: string) =>
  /lion|simba/i.test(text) ? [1, 0, 0] : /elephant/i.test(text) ? [0, 1, 0] : [0, 0, 1]

interface Asked {
  readonly url: string
  readonly key: string | undefined
  readonly inputs: readonly string[]
}

async function startService(answer: (asked: Asked, send: (status: number, body: string) => void) => void) {
  const asked: Asked[] = []
  const server: Server = createServer((request, response) => {
    let body = ''
    request.on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      const one = { url: request.url ?? '', key: request.headers.authorization, inputs: JSON.parse(body).input }
      asked.push(one)
      answer(one, (status, text) => response.writeHead(status, { 'content-type': 'application/json' }).end(text))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked }
}

const embed = ({ inputs }: Asked) =>
  JSON.stringify({ data: inputs.map((text, index) => ({ index, embedding: meaningOf(text) })) })

async function search(url: string, home: string) {
  const env = { TOOLDEX_HOME: home, TOOLDEX_EMBEDDINGS_URL: url, TOOLDEX_EMBEDDINGS_KEY: 'secret-key-1234' }
  const { stdout, stderr } = await runCli(['search', '-c', tempFile('zoo.yaml', config), 'simba is hungry', '--json'], {
    env,
  })
  return { answer: JSON.parse(stdout), stderr, stdout }
}

describeEmbedder('a service', async () => {
  const { url } = await startService(({ inputs }, send) => {
    const data = inputs.map((text, index) => ({ index, embedding: /branch/i.test(text) ? [3, 1, 0] : [0, 2, 5] }))
    send(200, JSON.stringify({ data }))
  })
  const embedder = new RemoteEmbedder({ url, model: 'm', cacheFolder: tempFolder(), deadlineMs: 120_000 })
  for (const query of embedderQueries) expect(await embedder.prepare(query, embedderTools)).toBe(true)
  return embedder
})

describe('an embeddings service in the place of the encoder', () => {
  it('ranks by its vectors, and requests those of tools once', async () => {
    const { url, asked } = await startService((one, send) => send(200, embed(one)))
    const home = tempFolder()
    // A service that a loaded machine makes late is passed over for that search.
    const inTime = async () => (await search(url, home)).answer
    const answer = await eventually(inTime, ({ note }) => note === undefined)
    expect(answer.results[0].name).toBe('feed_lion')
    expect(asked.every((one) => one.url === '/v1/embeddings' && one.key === 'Bearer secret-key-1234')).toBe(true)
    expect(readdirSync(join(home, 'cache', 'embeddings'))).toHaveLength(3)
    const before = asked.length
    await search(url, home)
    expect(asked.slice(before).flatMap((one) => one.inputs)).toEqual(['simba is hungry'])
  })

  it.each([
    ['an error', (_: Asked, send: (status: number, body: string) => void) => send(500, 'no')],
    ['no JSON', (_: Asked, send: (status: number, body: string) => void) => send(200, '<html>')],
    ['too few vectors', (_: Asked, send: (status: number, body: string) => void) => send(200, '{"data": []}')],
    [
      'what is no vector',
      (one: Asked, send: (status: number, body: string) => void) =>
        send(200, JSON.stringify({ data: one.inputs.map(() => ({ embedding: ['x'] })) })),
    ],
  ])('uses words only where it responds with %s, and reports it', async (_, answerWith) => {
    const { url } = await startService(answerWith)
    const { answer, stderr, stdout } = await search(url, tempFolder())
    expect(answer.note).toContain('words only')
    expect(stderr).toContain('Search uses words only')
    expect(stdout + stderr).not.toContain('secret-key-1234')
  })

  it('never makes a search wait longer than its deadline', async () => {
    const { url } = await startService(() => {})
    const { answer } = await search(url, tempFolder())
    expect(answer.note).toContain('words only')
  })

  it('uses words only where the service is unreachable', async () => {
    const { answer } = await search('http://127.0.0.1:9/v1', tempFolder())
    expect(answer.note).toContain('words only')
  })
})
