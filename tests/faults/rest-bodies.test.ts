import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { onServer } from '../support/each-engine.ts'
import { draft, expectProblem, register } from '../support/rest.ts'
import type { TestServer } from '../support/start-server.ts'

const rssOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

/** Sends bytes over a socket and returns the answer, when all was sent or the connection was closed. */
function sendRaw(server: TestServer, parts: readonly (string | Uint8Array)[]): Promise<string> {
  const { port } = new URL(server.url)
  return new Promise((resolve) => {
    let [text, isSent] = ['', false]
    const endWhenDone = () => {
      if (isSent && text.includes('"requestId"')) socket.destroy()
    }
    const socket = connect(Number(port), '127.0.0.1', async () => {
      for (const part of parts) if (!socket.destroyed && !socket.write(part)) await drained(socket)
      isSent = true
      endWhenDone()
    })
    socket.setEncoding('utf8').on('data', (more: string) => {
      text += more
      endWhenDone()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
  })
}

const drained = (socket: ReturnType<typeof connect>): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })

onServer('bodies over HTTP', (server) => {
  it('16: a body of 50 MB is refused with 413 and takes no memory', async () => {
    await register(server(), 'before_large')
    const before = rssOf(server().pid)
    const part = Buffer.alloc(1024 * 1024, 0x61)
    const head = (more: string) =>
      `POST /api/v1/tools HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${server().key}\r\ncontent-type: application/json\r\n${more}\r\n\r\n`
    const said = await sendRaw(server(), [head(`content-length: ${50 * part.length}`), ...Array(50).fill(part)])
    expect(said).toMatch(/^HTTP\/1\.1 413 /)
    const chunk = Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
    const unsaid = await sendRaw(server(), [head('transfer-encoding: chunked'), ...Array(50).fill(chunk), '0\r\n\r\n'])
    expect(unsaid).toMatch(/^HTTP\/1\.1 413 /)
    // Parts that were read and dropped are garbage for a moment.
    await expect.poll(() => rssOf(server().pid) - before).toBeLessThan(60)
    expect((await server().request('GET', '/tools/before_large')).status).toBe(200)
  })

  it('16: a client that sends too much gets the answer every time, and goes on with the connection', async () => {
    const raw = 'x'.repeat(5_000_000)
    for (let time = 0; time < 8; time++) {
      expectProblem(await server().request('POST', '/tools', { raw }), 413, 'TOO_LARGE')
      expectProblem(await server().request('POST', '/tools', { raw, key: undefined }), 401, 'UNAUTHORIZED')
      expectProblem(await server().request('POST', '/nowhere', { raw }), 404, 'NOT_FOUND')
      expect((await server().request('GET', '/tools?limit=1')).status).toBe(200)
    }
  })

  it('17: JSON that nests 200,000 deep is refused with 400', async () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const deep = `${open.repeat(200_000)}1${close.repeat(200_000)}`
      const answer = await server().request('POST', '/tools', { raw: deep })
      expectProblem(answer, 400, 'BODY_INVALID')
      const inside = JSON.stringify(draft('deep')).replace('{"type":"object"}', deep)
      expectProblem(await server().request('POST', '/tools', { raw: inside }), 400, 'BODY_INVALID')
    }
  })

  it('18: invalid UTF-8, lone surrogates and U+0000 are rejected with 400', async () => {
    const text = JSON.stringify(draft('odd_text', { description: 'HERE' }))
    const bytes = (own: readonly number[]) => {
      const [before = '', after = ''] = text.split('HERE')
      return Buffer.concat([Buffer.from(before), Buffer.from(own), Buffer.from(after)])
    }
    const bodies = [bytes([0xc3, 0x28]), bytes([0xff, 0xfe]), bytes([0xed, 0xa0, 0x80]), bytes([0])].concat(
      ['\\ud800', '\\udc00x', '\\u0000', 'a\\u0000b'].map((own) => Buffer.from(text.replace('HERE', own))),
      [Buffer.from(text.replace('"type":"object"', '"\\u0000":1'))],
    )
    for (const raw of bodies) expectProblem(await server().request('POST', '/tools', { raw }), 400, 'BODY_INVALID')
    const inAddress = ['/tools/%00', '/tools?search=%00', '/tools?tag=a%00', '/categories/%00', '/audit?subject=%00']
    for (const path of inAddress) expectProblem(await server().request('GET', path), 400)
    expect((await server().request('GET', '/tools/odd_text')).status).toBe(404)
  })

  it('18: text outside the basic plane is kept as it is', async () => {
    const description = 'naïve 🧰 \u200f \u{1F469}\u200D\u{1F4BB} 𝒯'
    expect((await register(server(), 'wide_text', { description })).description).toBe(description)
    expect((await server().request('GET', '/tools/wide_text')).body.description).toBe(description)
  })

  it('19: __proto__ and constructor in a body change nothing', async () => {
    const evil = '"__proto__":{"polluted":true,"scopes":["admin"]},"constructor":{"prototype":{"polluted":true}}'
    const top = `{${evil},${JSON.stringify(draft('proto_top')).slice(1)}`
    expectProblem(await server().request('POST', '/tools', { raw: top }), 422, 'INPUT_INVALID')
    const inside = JSON.stringify(draft('proto_inside')).replace('{"type":"object"}', `{${evil},"type":"object"}`)
    const answer = await server().request('POST', '/tools', { raw: inside })
    expect([201, 422]).toContain(answer.status)
    const change = await server().request('PATCH', '/tools/before_large', { raw: `{"annotations":{${evil}}}` })
    expect([200, 422]).toContain(change.status)
    const clean = await register(server(), 'proto_after')
    expect(JSON.stringify(clean)).not.toContain('polluted')
    expect('polluted' in {}).toBe(false)
  })

  it('31: only JSON media types are accepted', async () => {
    const raw = JSON.stringify(draft('by_form'))
    for (const type of [
      'text/plain',
      'text/plain; charset=utf-8',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonp',
      'text/json',
      '',
    ]) {
      const answer = await server().request('POST', '/tools', {
        raw: Buffer.from(raw),
        headers: { 'content-type': type },
      })
      expectProblem(answer, 415, 'MEDIA_TYPE')
    }
    for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/merge-patch+json']) {
      const answer = await server().request('PATCH', '/tools/proto_after', {
        raw: '{"notes":"x"}',
        headers: { 'content-type': type },
      })
      expect(answer.status, type).toBe(200)
    }
    expect((await server().request('GET', '/tools/by_form')).status).toBe(404)
  })

  it('32: a gzip bomb is refused by what it unpacks to', async () => {
    const before = rssOf(server().pid)
    const headers = { 'content-encoding': 'gzip' }
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, 0x20), { level: 9 })
    expectProblem(await server().request('POST', '/tools', { raw: bomb, headers }), 413, 'TOO_LARGE')
    expectProblem(await server().request('POST', '/tools', { raw: gzipSync(bomb), headers }), 400, 'BODY_INVALID')
    await expect.poll(() => rssOf(server().pid) - before).toBeLessThan(80)
    const fine = gzipSync(JSON.stringify(draft('packed')))
    expect((await server().request('POST', '/tools', { raw: fine, headers })).status).toBe(201)
    expectProblem(await server().request('POST', '/tools', { raw: fine.subarray(0, 40), headers }), 400, 'BODY_INVALID')
    const other = { 'content-encoding': 'br' }
    expectProblem(await server().request('POST', '/tools', { raw: fine, headers: other }), 415, 'MEDIA_TYPE')
  })

  it('32: a caller that leaves within a gzip body does no harm', async () => {
    const part = gzipSync(JSON.stringify(draft('leaving'))).subarray(0, 30)
    for (const encoding of ['gzip', 'identity']) {
      const { port } = new URL(server().url)
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => {})
      socket.write(
        `POST /api/v1/tools HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${server().key}\r\ncontent-type: application/json\r\ncontent-encoding: ${encoding}\r\ncontent-length: 5000\r\n\r\n`,
      )
      socket.write(part)
      await sleep(300)
      socket.resetAndDestroy()
    }
    await sleep(300)
    expect((await server().request('GET', '/tools?limit=1')).status).toBe(200)
  })

  it('33: a duplicate key is refused, and keys are case-sensitive', async () => {
    const text = JSON.stringify(draft('twice'))
    const twice = text.replace('"name":', '"name":"other","name":')
    expectProblem(await server().request('POST', '/tools', { raw: twice }), 400, 'BODY_INVALID')
    const escaped = text.replace('"name":', '"n\\u0061me":"other","name":')
    expectProblem(await server().request('POST', '/tools', { raw: escaped }), 400, 'BODY_INVALID')
    const cased = text.replace('"name":', '"Name":"other","name":')
    expectProblem(await server().request('POST', '/tools', { raw: cased }), 422, 'INPUT_INVALID')
    expectProblem(await server().request('GET', '/tools?limit=1&limit=2'), 422, 'INPUT_INVALID')
    expectProblem(await server().request('GET', '/tools?Limit=1'), 422, 'INPUT_INVALID')
  })

  it('33: values of the path cannot be set by the body or the query', async () => {
    await register(server(), 'said_once')
    const said = { idOrName: 'proto_after', notes: 'x' }
    expectProblem(await server().request('PATCH', '/tools/said_once', { body: said }), 422)
    expectProblem(await server().request('PATCH', '/tools/said_once?notes=x', { body: {} }), 422)
    expectProblem(await server().request('PATCH', '/tools/said_once', { body: { expectedVersion: 1 } }), 422)
    expectProblem(await server().request('GET', '/tools/said_once?idOrName=proto_after'), 422)
  })

  it('a body that is not a JSON object is rejected', async () => {
    for (const raw of ['[]', 'null', '1', '"x"', 'true'])
      expectProblem(await server().request('POST', '/tools', { raw }), 422, 'INPUT_INVALID')
    for (const raw of [
      '{',
      '{"a":1}}',
      "{'a':1}",
      '{"a":1,}',
      'NaN',
      '{"a":1e999}',
      '{"a":9007199254740993}',
      '\u00a0',
    ])
      expectProblem(await server().request('POST', '/tools', { raw }), 400, 'BODY_INVALID')
    expectProblem(await server().request('POST', '/tools'), 422, 'INPUT_INVALID')
  })
})
