import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempFolder } from '../../../tests/support/temp-folder.ts'
import { withTemplateLinks } from './template.ts'

it('an archive contains the content of equal files once, and unpacks to the same files', () => {
  const [from, to] = [tempFolder(), tempFolder()]
  const page = Buffer.alloc(8192, 'page')
  const files = {
    'base/1/10': page,
    'base/4/10': page,
    'base/5/10': page,
    'base/5/11': Buffer.from('other'),
    empty: '',
  }
  for (const folder of ['base/1', 'base/4', 'base/5']) mkdirSync(join(from, folder), { recursive: true })
  for (const [path, content] of Object.entries(files)) writeFileSync(join(from, path), content)
  const archive = execFileSync('tar', ['--format=ustar', '-C', from, '-cf', '-', 'base', 'empty'])
  const linked = withTemplateLinks(archive)
  expect(archive.length - linked.length).toBe(2 * page.length)
  execFileSync('tar', ['-C', to, '-xf', '-'], { input: linked })
  expect(readdirSync(to, { recursive: true }).sort()).toEqual(readdirSync(from, { recursive: true }).sort())
  for (const [path, content] of Object.entries(files))
    expect(readFileSync(join(to, path))).toEqual(Buffer.from(content))
})
