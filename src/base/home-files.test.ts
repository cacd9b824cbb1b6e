import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempFolder } from '../../tests/support/temp-folder.ts'
import { ensureFolder, ensurePrivateFolder } from './home-files.ts'

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

it('lets only the owner into private folders that it makes, and leaves others as they are', () => {
  const above = tempFolder()
  chmodSync(above, 0o755)
  const path = join(above, 'a', 'b')
  ensurePrivateFolder(path)
  const modes = [above, join(above, 'a'), path].map((folder) => statSync(folder).mode & 0o777)
  expect(modes).toEqual([0o755, 0o700, 0o700])
})
