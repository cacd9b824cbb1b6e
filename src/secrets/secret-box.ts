import { createCipheriv, createDecipheriv, randomBytes, scrypt, scryptSync } from 'node:crypto'
import { promisify } from 'node:util'
import { TooldexError } from '../base/errors.ts'
import type { SecretBox } from '../contract/secret.ts'

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
