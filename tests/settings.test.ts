import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkSettings, isOwnVariable, readSetting, settingTable, withoutCredentials } from '../src/rules/settings.ts'
import { projectRoot, runCli } from './support/run-cli.ts'
import { tempFolder } from './support/temp-folder.ts'

describe('settings', () => {
  it('are read by their type, and an empty variable takes the default', () => {
    expect(readSetting('TOOLDEX_QUEUE_MS', { TOOLDEX_QUEUE_MS: ' 250 ' })).toBe(250)
    expect(readSetting('TOOLDEX_RETENTION_DAYS', { TOOLDEX_RETENTION_DAYS: '0.5' })).toBe(0.5)
    expect(readSetting('TOOLDEX_PYTHON_WARM', { TOOLDEX_PYTHON_WARM: '0' })).toBe(0)
    for (const text of [undefined, '', '  '])
      expect(readSetting('TOOLDEX_QUEUE_MS', { TOOLDEX_QUEUE_MS: text })).toBe(3_600_000)
    expect(readSetting('TOOLDEX_QUEUE_LIMIT', {})).toBeUndefined()
    expect(readSetting('TOOLDEX_URL', { TOOLDEX_URL: '' })).toBeUndefined()
  })

  it.each(['0', '-1', '1x', '1e3', '0x10', '1.5', 'Infinity', '99999999999', 'abc'])('reject %s as a count', (text) => {
    const read = () => readSetting('TOOLDEX_QUEUE_LIMIT', { TOOLDEX_QUEUE_LIMIT: text })
    expect(read).toThrow(`TOOLDEX_QUEUE_LIMIT is "${text}"; it must be an integer from 1 to 2147483647.`)
  })

  it('read switches in the usual spellings and reject others', () => {
    for (const text of ['1', 'true', 'YES', 'on'])
      expect(readSetting('TOOLDEX_ALLOW_NETWORK', { TOOLDEX_ALLOW_NETWORK: text })).toBe(true)
    for (const text of ['0', 'False', 'no', ' off '])
      expect(readSetting('TOOLDEX_LEARNING', { TOOLDEX_LEARNING: text })).toBe(false)
    expect([readSetting('TOOLDEX_LEARNING', {}), readSetting('TOOLDEX_ALLOW_NETWORK', {})]).toEqual([true, false])
    const read = () => readSetting('TOOLDEX_SHIELD', { TOOLDEX_SHIELD: 'disabled' })
    expect(read).toThrow('TOOLDEX_SHIELD is "disabled"; it must be on or off.')
  })

  it('name an unknown variable and the setting that it resembles', () => {
    expect(checkSettings({ TOOLDEX_LEASE: '5', TOOLDEX_HOME: '/x', TOOLDEX_TEST_HOME: '/y', OTHER: '1' })).toEqual([
      `TOOLDEX_LEASE is not a setting and has no effect. Did you mean 'TOOLDEX_LEASE_MS'?`,
    ])
  })

  it('with a secret value are never passed to another process', () => {
    const env = { DATABASE_URL: 'a', PGPASSWORD: 'b', TOOLDEX_API_KEY: 'c', OTEL_EXPORTER_OTLP_HEADERS: 'd' }
    expect(withoutCredentials({ ...env, PGHOST: 'h' })).toEqual({ PGHOST: 'h' })
    expect(Object.keys(env).every(isOwnVariable)).toBe(true)
    expect(isOwnVariable('PGHOST')).toBe(false)
  })

  it.each([
    ['serve', 'TOOLDEX_RETENTION_ROWS', 'abc', 'an integer from '],
    ['serve', 'TOOLDEX_LEARNING', 'never', 'on or off'],
    ['worker', 'TOOLDEX_QUEUE_MS', '-1', 'an integer from '],
    ['worker', 'TOOLDEX_MAX_MEMORY_MB', '2GB', 'an integer from '],
  ])('keep a %s from starting where %s is %s', async (command, name, value, allowed) => {
    const env = { TOOLDEX_HOME: tempFolder(), DATABASE_URL: '', [name]: value }
    const words = command === 'serve' ? ['serve', '--port', '0'] : ['worker']
    const { code, stderr } = await runCli(words, { env })
    expect(code, stderr).toBe(2)
    expect(stderr).toContain(`${name} is "${value}"; it must be ${allowed}`)
  })
})

const src = join(projectRoot, 'src')
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((file) => file.split(sep).join('/'))
  .filter((file) => file.endsWith('.ts') && !/\.(test|suite)\.ts$/.test(file))
const read = (file: string) => readFileSync(join(src, file), 'utf8')
const codeOf = (file: string) => read(file).replace(/\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
const named = /\b(?:TOOLDEX_[A-Z][A-Z_]*[A-Z]|DATABASE_URL|PG[A-Z]{4,}|OTEL_[A-Z_]+)\b/g

describe('the environment', () => {
  it('is read in one file', () => {
    const readers = sources.filter((file) => /\bprocess\.env\b|\{ env \} = process\b/.test(codeOf(file)))
    // The second one moves all variables of a server out of the memory that other processes can read.
    expect(readers.sort()).toEqual(['app/hide-process.ts', 'rules/settings.ts'])
  })

  it('contains no setting that is read by another function', () => {
    const direct = /\benv(?:ironment)?(?:\.|\[')(?:TOOLDEX_|DATABASE_URL|PG|OTEL_)/i
    // The client of `install` gets variables that are written, not read.
    const readers = sources.filter((file) => direct.test(codeOf(file).replace(/\benv\.TOOLDEX_\w+ = /g, '')))
    expect(readers).toEqual([])
  })

  it('has no setting in the code or the documentation that is not declared', () => {
    const pages = ['README.md', 'docs/security.md', 'docs/scaling.md', 'CONTRIBUTING.md']
    const guides = readdirSync(join(projectRoot, 'docs/guides')).map((file) => `docs/guides/${file}`)
    const texts = [
      ...sources.map((file) => [file, read(file)] as const),
      ...[...pages, ...guides].map((file) => [file, readFileSync(join(projectRoot, file), 'utf8')] as const),
    ]
    const unknown = texts.flatMap(([file, text]) =>
      (text.match(named) ?? []).filter((name) => !Object.hasOwn(settingTable, name)).map((name) => `${file}: ${name}`),
    )
    expect(unknown).toEqual([])
  })

  it('is documented in one table', () => {
    const page = readFileSync(join(projectRoot, 'docs/reference/settings.md'), 'utf8')
    const documented = [...page.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name)
    expect(documented).toEqual(Object.keys(settingTable))
    for (const { description } of Object.values(settingTable)) expect(page).toContain(description)
  })
})
