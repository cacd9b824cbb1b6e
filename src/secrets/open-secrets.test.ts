import { execFileSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempFolder } from '../../tests/support/temp-folder.ts'
import { createSecretBox, openSecrets } from './index.ts'

const open = (env: Record<string, string> = {}) =>
  openSecrets({ env, box: createSecretBox({ read: () => undefined }), find: async () => undefined }, 'default')

it('takes a secret out of texts in every form it may stand in', async () => {
  const secrets = open({ TOKEN: 'line one\n"quoted"' })
  const value = await secrets.resolve('env:TOKEN')
  const sent = Buffer.from(`user:${value}`).toString('base64')
  secrets.hide('env:TOKEN', sent)
  const shown = secrets.redact(`plain ${value}, in JSON ${JSON.stringify({ value })}, as sent ${sent}.`)
  expect(shown).toBe(
    'plain [redacted env:TOKEN], in JSON {"value":"[redacted env:TOKEN]"}, as sent [redacted env:TOKEN (as sent)].',
  )
})

it('reads a file through a link, and nothing that is no file', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'first'), 'hidden\n')
  symlinkSync('first', join(folder, 'link'))
  execFileSync('mkfifo', [join(folder, 'pipe')])
  expect(await open().resolve(`file:${join(folder, 'link')}`)).toBe('hidden')
  for (const bad of [join(folder, 'pipe'), '/dev/zero', folder, join(folder, 'none')])
    await expect(open().resolve(`file:${bad}`), bad).rejects.toMatchObject({ code: 'SECRET_UNAVAILABLE' })
})

it('gives no tool what is the server’s own', async () => {
  for (const name of ['DATABASE_URL', 'TOOLDEX_SECRET_KEY'])
    await expect(open({ [name]: 'own' }).resolve(`env:${name}`)).rejects.toMatchObject({ code: 'SECRET_UNAVAILABLE' })
})
