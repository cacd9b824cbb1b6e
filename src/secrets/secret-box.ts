import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { TooldexError } from '../base/errors.ts'
import type { SecretBox } from '../contract/secret.ts'

const [nonceBytes, tagBytes] = [12, 16]
const fewestLetters = 16

/** Encrypts stored secrets (AES-256-GCM) with a key made from what the environment gives; without one nothing is stored. */
export function createSecretBox(passphrase: string | undefined): SecretBox {
  let derived: Buffer | undefined
  const key = (): Buffer => {
    if (passphrase === undefined || passphrase.length < fewestLetters)
      throw new TooldexError(
        'SECRET_UNAVAILABLE',
        'Stored secrets need a key of 16 letters or more to be encrypted with.',
        {
          hint: 'Set TOOLDEX_SECRET_KEY for the server and its workers, the same for all.',
        },
      )
    derived ??= scryptSync(passphrase, 'tooldex secrets', 32)
    return derived
  }
  return {
    seal(value) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key(), nonce)
      const body = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64')
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', key(), bytes.subarray(0, nonceBytes))
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString(
          'utf8',
        )
      } catch (cause) {
        throw new TooldexError('SECRET_UNAVAILABLE', 'A stored secret cannot be read with this key.', {
          hint: 'Set TOOLDEX_SECRET_KEY to what it was when the secret was stored, or store it again.',
          cause,
        })
      }
    },
  }
}
