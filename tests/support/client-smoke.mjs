// The built client, used in any runtime: `node client-smoke.mjs URL KEY TOOL` prints what `useClient` returns.
import { createClient, TooldexError } from '../../dist/surfaces/client/index.js'

/** Lists, runs and follows a tool, and receives an error. */
export async function useClient(url, key, tool) {
  const client = createClient({ url, key })
  const names = []
  for await (const { name } of client.tools.list({ limit: 1 })) names.push(name)
  const { id } = await client.tools.execute({ idOrName: tool, input: { word: 'x' } })
  const texts = []
  let status
  for await (const event of client.follow(id)) {
    if (event.event === 'output') texts.push(event.text)
    if (event.event === 'end') status = event.execution.status
  }
  const error = await client.tools.get({ idOrName: 'no_such_tool' }).catch((thrown) => thrown)
  const late = AbortSignal.abort()
  const aborted = await client.tools.list({}, { signal: late }).catch((thrown) => thrown)
  return {
    found: names.includes(tool),
    texts: texts.join(''),
    status,
    code: error instanceof TooldexError ? error.code : String(error),
    aborted: aborted.name,
  }
}

const [url, key, tool] = globalThis.process?.argv?.slice(2) ?? []
if (tool !== undefined) useClient(url, key, tool).then((result) => console.log(JSON.stringify(result)))
