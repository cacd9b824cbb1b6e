import { execFileSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempFolder } from '../../tests/support/temp-folder.ts'
import { redactJson } from '../rules/redact-json.ts'
import { redactStream } from '../runs/redact.ts'
import { createSecretBox, openSecrets } from './index.ts'

const open = (env: Record<string, string> = {}) =>
  openSecrets({ env, box: createSecretBox({ read: () => undefined }), find: async () => undefined }, 'default')

it('takes a secret out of texts in every form it may stand in', async () => {
  const secrets = open({ TOKEN: 'line one\n"quoted"' })
  const value = await secrets.resolve('env:TOKEN')
  const sent = Buffer.from(`user:${value}`).toString('base64')
  secrets.hide('env:TOKEN', sent)
  const json = JSON.stringify({ value })
  const shown = secrets.redact(`plain ${value}, in JSON ${json}, twice ${JSON.stringify(json)}, as sent ${sent}.`)
  expect(shown).toBe(
    'plain [redacted env:TOKEN], in JSON {"value":"[redacted env:TOKEN]"}, twice "{\\"value\\":\\"[redacted env:TOKEN]\\"}", as sent [redacted env:TOKEN (as sent)].',
  )
})

it('redacts the lines of a key, indented or one by one, and shows its header', async () => {
  const lines = [
    '-----BEGIN PRIVATE KEY-----',
    'MIIEvQIBADANBgkqhkiG9w0B',
    'AQEFAASCBKcwggSjAgEAAoIB',
    '-----END PRIVATE KEY-----',
  ]
  const secrets = open({ TOKEN: lines.join('\n') })
  await secrets.resolve('env:TOKEN')
  const shown = secrets.redact(lines.map((line) => `  ${line}\r\n`).join(''))
  expect(shown).toBe(
    '  -----BEGIN PRIVATE KEY-----\r\n  [redacted env:TOKEN]\r\n  [redacted env:TOKEN]\r\n  -----END PRIVATE KEY-----\r\n',
  )
})

const hexPairs = (value: string): readonly string[] => Buffer.from(value).toString('hex').match(/../g) ?? []

const encodings: readonly (readonly [what: string, encode: (value: string) => string])[] = [
  ['base64', (value) => Buffer.from(value).toString('base64')],
  ['base64 inside a longer text', (value) => Buffer.from(`u:${value};x`).toString('base64')],
  ['base64 two bytes in', (value) => Buffer.from(`id${value}\n`).toString('base64')],
  ['base64 for URLs', (value) => Buffer.from(`key=${value}`).toString('base64url')],
  ['hex', (value) => Buffer.from(value).toString('hex')],
  ['upper-case hex', (value) => Buffer.from(value).toString('hex').toUpperCase()],
  ['hex with spaces', (value) => hexPairs(value).join(' ')],
  ['upper-case hex with colons', (value) => hexPairs(value).join(':').toUpperCase()],
  // As base32 of GNU coreutils prints them, by themselves and inside a longer text.
  ['base32', () => 'ODB2I43TEB3S64TEFMTD67RQGEZDGNBVGY3TQOI='],
  ['lower-case base32 without padding', () => 'odb2i43teb3s64tefmtd67rqgezdgnbvgy3tqoi'],
  ['base32 one byte in', () => 'NFYMHJDTOMQHOL3SMQVSMP36GAYTEMZUGU3DOOBZ'],
  ['base32 three bytes in', () => 'NFSDU4GDURZXGIDXF5ZGIKZGH57DAMJSGM2DKNRXHA4Q===='],
  ['a part of a URL', (value) => encodeURIComponent(value)],
  ['a form field', (value) => new URLSearchParams({ q: value }).toString()],
  ['percent codes', (value) => Buffer.from(value).toString('hex').replace(/../g, '%$&')],
  ['HTML', (value) => value.replaceAll('&', '&amp;')],
  ['ASCII JSON', (value) => JSON.stringify(value).replace(/[^ -~]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)],
]

it.each(encodings)('redacts a secret as %s, in one piece and in pieces of every size', async (_, encode) => {
  const secrets = open({ TOKEN: 'p\u00e4ss w/rd+&?~0123456789' })
  const value = await secrets.resolve('env:TOKEN')
  const text = `before ${encode(value)} after`
  const shown = secrets.redact(text)
  expect(shown).toMatch(/^before .*\[redacted env:TOKEN\].* after$/)
  // Of what is left no eight characters are of the encoded secret.
  const left = shown.replace('[redacted env:TOKEN]', ' ')
  for (let at = 0; at + 8 <= encode(value).length; at++) expect(left).not.toContain(encode(value).slice(at, at + 8))
  for (const size of [1, 3, 7]) {
    let streamed = ''
    const stream = redactStream((_stream, piece) => {
      streamed += piece
    }, secrets.redact)
    for (let at = 0; at < text.length; at += size) stream.take('stdout', text.slice(at, at + size))
    stream.end()
    expect(streamed).toBe(shown)
  }
})

it('redacts a secret that ends as it begins, in pieces of every size', async () => {
  const secrets = open({ TOKEN: 'abcabcab', OTHER: 'cabXYZ' })
  for (const name of ['TOKEN', 'OTHER']) await secrets.resolve(`env:${name}`)
  for (const size of [1, 2, 3, 5, 8]) {
    let streamed = ''
    const stream = redactStream((_stream, piece) => {
      streamed += piece
    }, secrets.redact)
    const text = 'x abcabcab y'
    for (let at = 0; at < text.length; at += size) stream.take('stdout', text.slice(at, at + size))
    stream.end()
    expect(streamed).toBe('x [redacted env:TOKEN] y')
  }
})

it('redacts base64 that a program broke into lines', async () => {
  const secrets = open({ TOKEN: 'x1'.repeat(100) })
  const value = await secrets.resolve('env:TOKEN')
  const lines = Buffer.from(value).toString('base64').replace(/.{76}/g, '$&\n')
  expect(secrets.redact(`${lines}\n`)).toBe('[redacted env:TOKEN]\n')
})

it('redacts secrets of digits that are returned as numbers, in any place of a value', async () => {
  const secrets = open({ PIN: '00481516', LONG: '12345678901234567890' })
  for (const name of ['PIN', 'LONG']) await secrets.resolve(`env:${name}`)
  const output = JSON.stringify(
    JSON.parse('{"pin": 481516, "list": [12345678901234567890, 7], "count": 42, "big": 4815}'),
  )
  expect(JSON.parse(redactJson(output, secrets.redact))).toEqual({
    pin: '[redacted env:PIN]',
    list: ['[redacted env:LONG]', 7],
    count: 42,
    big: 4815,
  })
})

it('leaves ordinary text alone where a secret is short', async () => {
  const secrets = open({ PIN: '1234', TINY: 'on' })
  for (const name of ['PIN', 'TINY']) await secrets.resolve(`env:${name}`)
  const text = 'turned on: 31 items, MTIz, 12 34, count 123'
  expect(secrets.redact(text)).toBe(text)
  expect(secrets.redact('pin 1234')).toBe('pin [redacted env:PIN]')
})

it('reads a file through a link, and rejects other kinds of files', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'first'), 'hidden\n')
  symlinkSync('first', join(folder, 'link'))
  execFileSync('mkfifo', [join(folder, 'pipe')])
  expect(await open().resolve(`file:${join(folder, 'link')}`)).toBe('hidden')
  for (const bad of [join(folder, 'pipe'), '/dev/zero', folder, join(folder, 'none')])
    await expect(open().resolve(`file:${bad}`), bad).rejects.toMatchObject({ code: 'SECRET_UNAVAILABLE' })
})

it('returns no secret of the server to a tool', async () => {
  for (const name of ['DATABASE_URL', 'TOOLDEX_SECRET_KEY'])
    await expect(open({ [name]: 'own' }).resolve(`env:${name}`)).rejects.toMatchObject({ code: 'SECRET_UNAVAILABLE' })
})
