import * as z from 'zod'
import type { Replacement } from '../base/redact-value.ts'

/** The name of a stored secret. */
export const SecretName = z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/, 'must be of letters, digits and _.-')

/** Where a secret is: stored here (`secret:name`, or the bare name), in a variable of the server, or in a file of its. */
export const SecretReference = z
  .string()
  .max(1000)
  .regex(
    /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:[^\0\r\n]+|(?:secret:)?[A-Za-z0-9_.-]{1,100})$/,
    'must say where a secret is (secret:NAME, env:NAME or file:PATH), not the secret itself',
  )

/** Takes another form of a secret out of all that a run shows. */
export type HideSecret = (name: string, value: string) => void

/** Gives the secret that a reference stands for. */
export type ResolveSecret = (reference: string) => Promise<string>

/** Replaces secrets in texts, in whole ones and in those that arrive in pieces. */
export interface Redactor {
  (text: string): string
  /** How many characters at the end of a text, `atLeast` or more, must wait for what follows: they may be part of a secret. */
  readonly unfinished: (text: string, atLeast?: number) => number
  /** The texts that it replaces now, in their order. */
  readonly replacements: () => readonly Replacement[]
}

/** Secrets of somebody who reads whole texts only. */
export interface PlainSecrets {
  readonly resolve: ResolveSecret
  readonly redact: (text: string) => string
}

/** The secrets of one run: resolved at the last moment, and remembered so that none shows in what the run gives. */
export interface SecretScope extends PlainSecrets {
  /** Another form of a secret, such as the one it is sent in, is hidden too. */
  readonly hide: HideSecret
  readonly redact: Redactor
}

/** A stored secret, without what it holds. */
export const StoredSecret = z.object({
  name: z.string(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  createdBy: z.string().nullable(),
})
export type StoredSecret = z.infer<typeof StoredSecret>

/** Seals and opens what is stored. */
export interface SecretBox {
  seal(value: string): string
  open(sealed: string): string
}
