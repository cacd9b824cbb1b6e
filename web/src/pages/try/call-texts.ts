/** A call to be written for another place. */
export interface WrittenCall {
  readonly origin: string
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

/** Quotes a word for a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The call as a curl command; the key stays in a variable. */
export function toCurl({ origin, tool, input }: WrittenCall): string {
  return [
    `curl -X POST ${quote(`${origin}/api/v1/tools/${encodeURIComponent(tool)}/execute`)}`,
    `-H "Authorization: Bearer $TOOLDEX_API_KEY"`,
    `-H 'content-type: application/json'`,
    `-d ${quote(JSON.stringify({ input, wait: true }))}`,
  ].join(' \\\n  ')
}

/** The call as a command. */
export const toCommand = ({ origin, tool, input }: WrittenCall): string =>
  `tooldex call --server ${quote(origin)} ${quote(tool)} --args ${quote(JSON.stringify(input))}`

/** The call as a program. */
export function toTypeScript({ origin, tool, input }: WrittenCall): string {
  const args = JSON.stringify({ idOrName: tool, input, wait: true }, null, 2)
  return `import { createClient } from 'tooldex/client'

const tooldex = createClient({ url: ${JSON.stringify(origin)}, key: process.env.TOOLDEX_API_KEY })
const execution = await tooldex.tools.execute(${args})
console.log(execution)
`
}
