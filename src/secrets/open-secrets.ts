import { createCipheriv, createDecipheriv, randomBytes, scrypt, scryptSync } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { promisify } from 'node:util'
import { TooldexError } from '../base/errors.ts'
import type { Environment } from '../base/expand-variables.ts'
import { type Grant, type GrantsOf, hostGrants } from '../contract/executor-kinds.ts'
import type { SecretBox, SecretScope } from '../contract/secret.ts'
import { readTextFile } from '../documents/read-text-file.ts'
import { isOwnVariable } from '../rules/settings.ts'
import { redactValues } from './redact-values.ts'

/** The sources of secrets: environment, files and the registry. */
interface SecretSources {
  readonly env: Environment
  readonly box: SecretBox
  /** The sealed value that is stored under a name. */
  readonly find: (workspace: string, name: string) => Promise<string | undefined>
  /** The parts of the host that each workspace was granted; all of them where absent. */
  readonly grantsOf?: GrantsOf | undefined
  /** The folder of the server itself, whose files cannot be secrets of tools. */
  readonly home?: string | undefined
}

const maxBytes = 64 * 1024
// Shorter values occur in ordinary text, which redaction would garble.
const minLength = 4

/** The secrets of one run in a workspace. */
export function openSecrets(sources: SecretSources, workspace: string): SecretScope {
  const { redact, add } = redactValues(minLength)
  return {
    async resolve(reference) {
      const value = await read(sources, workspace, reference)
      add(reference, value)
      return value
    },
    hide: (name, value) => add(`${name} (as sent)`, value),
    redact,
  }
}

async function read(sources: SecretSources, workspace: string, reference: string): Promise<string> {
  const { env, box, find, home } = sources
  const [, kind = 'secret', name = ''] = /^(?:(env|file|secret):)?(.*)$/s.exec(reference) ?? []
  if (kind !== 'secret') requireGrant(sources, workspace, kind === 'env' ? 'env' : 'files')
  if (kind === 'env') return ownVariable(env, name)
  if (kind === 'file') return fileContent(name, home)
  const sealed = await find(workspace, name)
  if (sealed === undefined) throw missing(`There is no secret '${name}'.`, `Store it with: tooldex secrets set ${name}`)
  return box.open(sealed)
}

function requireGrant({ grantsOf }: SecretSources, workspace: string, grant: Grant): void {
  if (grantsOf === undefined || grantsOf(workspace).includes(grant)) return
  throw missing(
    `The workspace '${workspace}' may not ${hostGrants[grant]}.`,
    `The operator of the host can grant it: tooldex serve --grant ${workspace}=${grant}`,
  )
}

function ownVariable(env: Environment, name: string): string {
  if (isOwnVariable(name))
    throw missing(`The variable ${name} belongs to the server and is not available to tools.`, 'Use another variable.')
  const value = env[name]
  if (value === undefined || value === '')
    throw missing(`The variable ${name} is not set.`, 'Set it for the server and its workers.')
  return value
}

/** Links are followed, because mounted secrets are links to files that get replaced; pipes and devices are rejected. */
function fileContent(path: string, home: string | undefined): string {
  try {
    const file = realpathSync(path)
    if (isInside(file, '/proc') || (home !== undefined && isInside(file, realpathSync(home)))) throw new Error(file)
    return readTextFile(file, maxBytes).replace(/\r?\n$/, '')
  } catch {
    throw missing(
      'The file of a secret cannot be read.',
      'Check that it exists, is readable and small, and is not in TOOLDEX_HOME.',
    )
  }
}

const isInside = (file: string, folder: string): boolean => file.startsWith(`${folder}/`)

const missing = (message: string, hint: string): TooldexError =>
  new TooldexError('SECRET_UNAVAILABLE', message, { hint })

const [nonceBytes, tagBytes] = [12, 16]
const minCharacters = 16
const [salt, keyBytes] = ['tooldex secrets', 32]
const derive = promisify<string, string, number, Buffer>(scrypt)

/** The origin of the passphrase for stored secrets. */
export interface SecretKeySource {
  read(): string | undefined
  /** Creates and stores a passphrase for the first secret; absent where none can be stored. */
  make?(): string
}

/** Encrypts stored secrets (AES-256-GCM) with a key derived from a passphrase; without a passphrase, nothing is stored. */
export function createSecretBox(source: SecretKeySource): SecretBox {
  let derived: Buffer | undefined
  const key = (make?: () => string): Buffer => {
    derived ??= scryptSync(checked(source.read() ?? make?.()), salt, keyBytes)
    return derived
  }
  return {
    seal(value, purpose) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key(source.make), nonce)
      if (purpose !== undefined) cipher.setAAD(Buffer.from(purpose))
      const body = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64')
    },
    open(sealed, purpose) {
      const bytes = Buffer.from(sealed, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', key(), bytes.subarray(0, nonceBytes))
      if (purpose !== undefined) decipher.setAAD(Buffer.from(purpose))
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString(
          'utf8',
        )
      } catch (cause) {
        throw new TooldexError('SECRET_UNAVAILABLE', 'A stored secret cannot be decrypted with this key.', {
          hint: 'Set TOOLDEX_SECRET_KEY to the key that the secret was stored with, or store it again.',
          cause,
        })
      }
    },
    async prepare() {
      const passphrase = source.read()
      // One that is too short is reported by its first use.
      if (passphrase === undefined || passphrase.length < minCharacters) return
      const made = await derive(passphrase, salt, keyBytes)
      derived ??= made
    },
  }
}

function checked(passphrase: string | undefined): string {
  if (passphrase !== undefined && passphrase.length >= minCharacters) return passphrase
  const message =
    passphrase === undefined
      ? 'There is no key to read stored secrets with.'
      : `The key for stored secrets is shorter than ${minCharacters} characters.`
  throw new TooldexError('SECRET_UNAVAILABLE', message, {
    hint: 'Set TOOLDEX_SECRET_KEY, the same for all servers and workers, or copy secret.key to TOOLDEX_HOME.',
  })
}
