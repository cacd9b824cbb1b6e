import { realpathSync } from 'node:fs'
import { TooldexError } from '../base/errors.ts'
import type { Environment } from '../base/expand-variables.ts'
import { isOwnVariable } from '../base/own-variables.ts'
import { readTextFile } from '../base/read-text-file.ts'
import type { SecretBox, SecretScope } from '../contract/secret.ts'
import { redactValues } from './redact-values.ts'

/** Where secrets are looked for. */
export interface SecretPlaces {
  readonly env: Environment
  readonly box: SecretBox
  /** What is stored under a name, still sealed. */
  readonly find: (workspace: string, name: string) => Promise<string | undefined>
}

const mostBytes = 64 * 1024
// Shorter values occur in ordinary text, and taking them out would only garble it.
const shortest = 4

/** The secrets of one run in a workspace. */
export function openSecrets(places: SecretPlaces, workspace: string): SecretScope {
  const { redact, know } = redactValues(shortest)
  return {
    async resolve(reference) {
      const value = await read(places, workspace, reference)
      know(reference, value)
      return value
    },
    hide: (name, value) => know(`${name} (as sent)`, value),
    redact,
  }
}

async function read({ env, box, find }: SecretPlaces, workspace: string, reference: string): Promise<string> {
  const [, kind = 'secret', name = ''] = /^(?:(env|file|secret):)?(.*)$/s.exec(reference) ?? []
  if (kind === 'env') return ownVariable(env, name)
  if (kind === 'file') return fileContent(name)
  const sealed = await find(workspace, name)
  if (sealed === undefined) throw missing(`There is no secret '${name}'.`, `Store it with: tooldex secrets set ${name}`)
  return box.open(sealed)
}

function ownVariable(env: Environment, name: string): string {
  if (isOwnVariable(name))
    throw missing(`The variable ${name} is the server's own and given to no tool.`, 'Name another one.')
  const value = env[name]
  if (value === undefined || value === '')
    throw missing(`The variable ${name} is not set.`, 'Set it for the server and its workers.')
  return value
}

/** Secrets are often links, to a file that is put in another's place; a pipe or a device is none. */
function fileContent(path: string): string {
  try {
    return readTextFile(realpathSync(path), mostBytes).replace(/\r?\n$/, '')
  } catch {
    throw missing('The file of a secret cannot be read.', 'Check that it is there, readable and small.')
  }
}

const missing = (message: string, hint: string): TooldexError =>
  new TooldexError('SECRET_UNAVAILABLE', message, { hint })
