import type { Command } from 'commander'
import { TooldexError } from '../../../../base/errors.ts'
import { untilAborted } from '../../../../base/until-aborted.ts'
import { bundleLimits } from '../../../../contract/bundle.ts'
import type { CliHost } from '../../host.ts'
import { readText } from '../../read-tool-file.ts'
import { collect } from '../command.ts'
import { definedOptions, withRegistryOptions } from './registry-command.ts'
import { type ImportFlags, importInto } from './tool-bundles.ts'

interface OpenApiFlags extends ImportFlags {
  readonly namespace?: string
  readonly include?: string[]
  readonly exclude?: string[]
  readonly baseUrl?: string
  readonly auth?: string[]
  readonly allowPrivate?: boolean
  readonly activate?: boolean
  readonly outputSchemas?: boolean
}

/** `tooldex import openapi FILE|URL`: makes a tool of each operation of a service. */
export function addImportOpenApi(group: Command, host: CliHost): void {
  const command = group
    .command('openapi')
    .description('register the operations of an OpenAPI document (3.0, 3.1 or Swagger 2.0) as tools')
    .argument('<file|url>', 'the document, as JSON or YAML; - for standard input')
    .option('--namespace <name>', 'namespace of the tools and prefix of their names (default: from the title)')
    .option('--include <pattern>', 'only these operations: an id, "GET /users/*" or tag:users', collect)
    .option('--exclude <pattern>', 'not these operations', collect)
    .option('--base-url <url>', 'URL of the service, instead of the servers of the document')
    .option('--auth <[scheme=]secret>', 'secret of a security scheme, such as token=secret:github', collect)
    .option('--allow-private', 'allow a service at a private address')
    .option('--activate', 'make new tools active at once')
    .option('--output-schemas', 'validate responses against the schemas of the document')
    .option('--prune', 'remove tools of the namespace that are not in the document')
    .option('--dry-run', 'show the changes without making them')
  withRegistryOptions(command).action(async (source: string, flags: OpenApiFlags) => {
    const { namespace, include, exclude, allowPrivate, activate, outputSchemas } = flags
    const isUrl = /^https?:\/\//i.test(source)
    const text = isUrl ? await download(source, host.signal) : readText(source)
    const auth = flags.auth === undefined ? undefined : Object.fromEntries(flags.auth.map(toSecret))
    const baseUrl = flags.baseUrl ?? (isUrl ? resolvedServer(text, source) : undefined)
    const openapi = { namespace, include, exclude, baseUrl, auth, allowPrivate, activate, outputSchemas }
    const file = source === '-' ? 'stdin' : source
    await importInto(host, flags, { text, file: file.slice(-500), openapi: definedOptions(openapi) })
  })
}

/** `token=secret:github` is the secret of one scheme, `secret:github` that of all. */
function toSecret(text: string): [string, string] {
  const [, scheme, secret] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  return scheme === undefined || secret === undefined ? ['*', text] : [scheme, secret]
}

/** The servers of a downloaded document may be relative to its URL. */
function resolvedServer(text: string, source: string): string | undefined {
  const [, url] = /["']?servers["']?\s*:\s*(?:\[\s*\{|-)\s*["']?url["']?\s*:\s*["']?(\/[^"'\s,}]*)/.exec(text) ?? []
  return url === undefined ? undefined : new URL(url, source).href
}

const downloadMs = 60_000

async function download(url: string, signal: AbortSignal): Promise<string> {
  const refuse = (why: string, cause?: unknown) =>
    new TooldexError('FILE_REFUSED', `${url} ${why}.`, {
      hint: 'Check the URL, or download the document first.',
      cause,
    })
  try {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(downloadMs)])
    const response = await fetch(url, { signal: ended })
    if (!response.ok) throw refuse(`responded with status ${response.status}`)
    return await untilAborted(readDocument(response, refuse), ended)
  } catch (error) {
    throw error instanceof TooldexError ? error : refuse('could not be downloaded', error)
  }
}

async function readDocument({ body }: Response, refuse: (why: string) => TooldexError): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > bundleLimits.documentBytes) throw refuse(`is larger than ${bundleLimits.documentBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
