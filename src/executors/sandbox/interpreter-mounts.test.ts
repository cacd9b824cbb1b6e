import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempFolder } from '../../../tests/support/temp-folder.ts'
import { interpreterMounts } from './visible-program.ts'

const program = (...parts: string[]): string => {
  const path = join(...parts)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, '')
  return path
}

it('shows the folder that an interpreter is installed in, and never more than that', () => {
  const folder = tempFolder()
  const installed = program(folder, 'python', 'bin', 'python3')
  expect(interpreterMounts(installed).map(({ source }) => source)).toEqual([join(folder, 'python')])
  const alone = program(folder, 'python3')
  expect(interpreterMounts(alone).map(({ source }) => source)).toEqual([folder])
})

it('shows both where one is a link to the other, and nothing more of the system', () => {
  const folder = tempFolder()
  const installed = program(folder, 'python', 'bin', 'python3')
  const link = join(folder, 'shims', 'python3')
  mkdirSync(join(folder, 'shims'))
  symlinkSync(installed, link)
  expect(interpreterMounts(link).map(({ source }) => source)).toEqual([join(folder, 'shims'), join(folder, 'python')])
  expect(interpreterMounts('/usr/bin/env')).toEqual([])
})
