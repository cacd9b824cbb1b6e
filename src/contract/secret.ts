import * as z from 'zod'

/** The name of a stored secret. */
export const SecretName = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,100}$/, 'must contain only letters, digits and _.-, at most 100 characters')

/** The location of a secret: stored (`secret:name` or the bare name), in a variable of the server, or in a file of the server. */
export const SecretReference = z
  .string()
  .max(1000)
  .regex(
    /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:[^\0\r\n]+|(?:secret:)?[A-Za-z0-9_.-]{1,100})$/,
    'must be a reference to a secret (secret:NAME, env:NAME or file:PATH), not the secret itself',
  )

/** Redacts another form of a secret in all outputs of a run. */
export type HideSecret = (name: string, value: string) => void

/** Resolves a reference to a secret. */
export type ResolveSecret = (reference: string) => Promise<string>

/** A text to replace, and the mark that replaces it. */
export type Replacement = readonly [text: string, mark: string]

/** Replaces secrets in complete texts and in streams. */
export interface Redactor {
  (text: string): string
  /** The number of characters at the end of a text, `atLeast` or more, that may be the beginning of a secret and must be held back. */
  readonly unfinished: (text: string, atLeast?: number) => number
  /** The current replacements in their order. */
  readonly replacements: () => readonly Replacement[]
}

/** Secrets for complete texts only. */
export interface PlainSecrets {
  readonly resolve: ResolveSecret
  readonly redact: (text: string) => string
}

/** The secrets of one run: resolved at the last moment, and remembered for the redaction of its outputs. */
export interface SecretScope extends PlainSecrets {
  /** Redacts another form of a secret, such as its encoding in a header. */
  readonly hide: HideSecret
  readonly redact: Redactor
}

/** A stored secret without its value. */
export const StoredSecret = z.object({
  name: z.string(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  createdBy: z.string().nullable(),
})
export type StoredSecret = z.infer<typeof StoredSecret>

/** Encrypts and decrypts stored secrets. */
export interface SecretBox {
  /** Only `open` with the same purpose opens what was sealed for one. */
  seal(value: string, purpose?: string): string
  open(sealed: string, purpose?: string): string
  /** Derives the key off the main thread, where there is one; the first use would hold the event loop for it. */
  prepare(): Promise<void>
}
