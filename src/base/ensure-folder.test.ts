import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempFolder } from '../../tests/support/temp-folder.ts'
import { ensureFolder } from './ensure-folder.ts'

it('makes a folder with those above it, and is content with one that is there', () => {
  const path = join(tempFolder(), 'a', 'b', 'c')
  ensureFolder(path)
  ensureFolder(path)
  expect(existsSync(path)).toBe(true)
})

it('fails where a folder cannot be, and does not hang', () => {
  const file = join(tempFolder(), 'file')
  writeFileSync(file, '')
  expect(() => ensureFolder(join(file, 'below'))).toThrow()
  if (existsSync('/proc/self')) expect(() => ensureFolder('/proc/no-such/place')).toThrow()
})
