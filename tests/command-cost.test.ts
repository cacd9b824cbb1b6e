import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { migratedHome } from './support/migrated-database.ts'
import { mainFile } from './support/run-cli.ts'

it('lists tools of an embedded database without optimizing the engine', () => {
  const env = { ...process.env, TOOLDEX_HOME: migratedHome(), DATABASE_URL: '', TOOLDEX_URL: '' }
  const words = ['--trace-wasm-compilation-times', mainFile, 'tools', 'list']
  const printed = execFileSync(process.execPath, words, { encoding: 'utf8', env, maxBuffer: 64 * 1024 * 1024 })
  const compiledBy = (compiler: string) =>
    printed.split('\n').filter((line) => line.includes(`using ${compiler}`)).length
  expect(compiledBy('Liftoff')).toBeGreaterThan(100)
  expect(compiledBy('TurboFan')).toBe(0)
})
