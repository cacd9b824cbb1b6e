import { relative } from 'node:path'

/** The state of a server after its start. */
export interface Greeting {
  readonly url: string
  readonly engine: string
  readonly tools: { readonly ofConfigs: number; readonly registered: number }
  /** The secret of the admin key, if this start generated it. */
  readonly newKey: string | undefined
  /** Whether TOOLDEX_API_KEY is a key of the database. */
  readonly isKeySet: boolean
  /** The file of the encryption key, if this start created it. */
  readonly keyFile: string | undefined
  /** The folders of the host that tools may use. */
  readonly folders: readonly { readonly path: string; readonly writable: boolean }[]
  /** Whether the example tools are registered. */
  readonly hasExamples: boolean
}

/** The served tools, the key, the URL of the console, the next commands and how to stop. */
export function greetingLines({ url, engine, tools, newKey, isKeySet, keyFile, folders, hasExamples }: Greeting) {
  const self = ownCommand()
  // The first example works without a network.
  const first = hasExamples ? `call text_statistics --text 'Good morning.'` : 'tools create FILE --activate'
  const login = isKeySet ? '' : `export TOOLDEX_API_KEY=${newKey ?? 'KEY'}; `
  const shared = engine === 'pglite' ? '' : ', and copy it to all servers and workers of this database'
  return [
    `tooldex serves ${tools.ofConfigs} config tools and ${tools.registered} registered tools at ${url} (database: ${engine})`,
    keyLine(newKey, isKeySet),
    // Browsers do not send the part after #, so the key is in no request and no log.
    newKey === undefined
      ? `console at ${url}, API documentation at ${url}/docs`
      : `log in at ${url}/#key=${encodeURIComponent(newKey)}`,
    `MCP endpoint at ${url}/mcp`,
    `next: ${login}${self} tools list; ${self} ${first}`,
    ...(keyFile === undefined ? [] : [`secrets are encrypted with the new key in ${keyFile}: back it up${shared}`]),
    ...folders.map(({ path, writable }) => `tools may ${writable ? 'read and write' : 'read'} ${path}`),
    'stop with Ctrl+C',
  ]
}

function keyLine(newKey: string | undefined, isKeySet: boolean): string {
  if (newKey !== undefined) return `admin key (shown only once): ${newKey}`
  if (isKeySet) return 'key: the value of TOOLDEX_API_KEY'
  return 'key: the admin key printed at the first start; for a new one, stop the server and run: tooldex keys create NAME --scope admin'
}

/** The command that starts this program from the current folder. */
function ownCommand(): string {
  const started = process.argv[1] ?? ''
  return started.endsWith('.js') ? `node ${relative(process.cwd(), started)}` : 'tooldex'
}
