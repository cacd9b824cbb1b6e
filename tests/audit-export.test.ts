import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { migratedHome } from './support/migrated-database.ts'
import { openRegistry } from './support/open-registry.ts'
import { runInline } from './support/run-here.ts'
import { tempFolder } from './support/temp-folder.ts'

describe('the audit log over HTTP', () => {
  it('is verified and exported by administrators, their own workspace only', async () => {
    const { request, close } = await openRegistry()
    const { secret } = (
      await request('POST', '/keys', { body: { name: 'other', scopes: ['admin'], workspace: 'other' } })
    ).body
    const { secret: reader } = (await request('POST', '/keys', { body: { name: 'reader', scopes: ['read', 'write'] } }))
      .body
    for (const path of ['/audit/verify', '/audit/export'])
      expect((await request('GET', path, { key: reader })).body).toMatchObject({ code: 'FORBIDDEN' })
    const verified = (await request('GET', '/audit/verify')).body
    expect(verified).toMatchObject({ intact: true, rows: 3, head: { sequence: 3 }, firstBreak: null })
    const exported = await request('GET', '/audit/export')
    expect(exported.headers.get('content-type')).toBe('application/x-ndjson')
    const lines = exported.text.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).sequence)).toEqual([1, 2, 3])
    const [, text = '', hash] = /^(.*),"hash":"(\w+)"\}$/.exec(lines[2] ?? '') ?? []
    expect([hash, hash]).toEqual([verified.head.hash, createHash('sha256').update(`${text}}`).digest('hex')])
    expect((await request('GET', '/audit/export?after=2')).text).toBe(`${lines[2]}\n`)
    const foreign = (await request('GET', '/audit/export', { key: secret })).text
    expect(
      foreign
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).workspace),
    ).toEqual(['other'])
    expect((await request('GET', '/audit/verify?head=abc')).body).toMatchObject({
      code: 'INPUT_INVALID',
      errors: [{ pointer: '/head' }],
    })
    await close()
  })
})

describe('tooldex audit', () => {
  it('verifies the log and its export, and finds what was done to the file', async () => {
    const env = { TOOLDEX_HOME: migratedHome(), TOOLDEX_URL: '', DATABASE_URL: '', TOOLDEX_API_KEY: '' }
    const tooldex = (...words: string[]) => runInline(['audit', ...words], { env })
    for (const name of ['one', 'two', 'three', 'four']) await runInline(['categories', 'create', name], { env })
    const file = join(tempFolder(), 'audit.jsonl')
    const written = await tooldex('export', file)
    expect([written.code, written.stderr]).toEqual([0, ''])
    const { stdout, code } = await tooldex('verify')
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^\d+ row\(s\), all intact\. Head: row \d+, [0-9a-f]{64}\n$/),
    ])
    expect(written.stdout).toBe(stdout)
    expect((await tooldex('verify', '--file', file)).stdout).toBe(stdout)
    const printed = await tooldex('export')
    expect([printed.stdout, printed.stderr]).toEqual([readFileSync(file, 'utf8'), stdout])
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    const [, head = ''] = / ([0-9a-f]{64})\n/.exec(stdout) ?? []
    const last = lines.length
    const changes: readonly (readonly [readonly string[], object])[] = [
      [
        withLine(lines, last - 2, String(lines[last - 2]).replace('three', 'never')),
        { kind: 'changed', sequence: last - 1 },
      ],
      [lines.filter((_, at) => at !== last - 2), { kind: 'removed', sequence: last - 1 }],
      [lines.slice(1), { kind: 'removed', sequence: 1 }],
      [lines.slice(0, -1), { kind: 'truncated', sequence: last }],
      [[...lines, String(lines[0])], { kind: 'inserted', sequence: 1 }],
      [withLine(lines, last - 1, '{}'), { kind: 'changed', sequence: last }],
    ]
    for (const [changed, firstBreak] of changes) {
      writeFileSync(file, changed.map((line) => `${line}\n`).join(''))
      const found = await tooldex('verify', '--file', file, '--head', head, '--json')
      expect([found.code, JSON.parse(found.stdout)]).toEqual([
        1,
        expect.objectContaining({ intact: false, firstBreak: expect.objectContaining(firstBreak) }),
      ])
    }
    writeFileSync(file, 'not a log\n')
    expect(await tooldex('verify', '--file', file)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('is not an export'),
    })
  })
})

const withLine = (lines: readonly string[], at: number, line: string) =>
  lines.map((each, index) => (index === at ? line : each))
