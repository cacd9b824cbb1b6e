import { TooldexError } from '../../base/errors.ts'
import type { CallerInput } from '../../contract/executor.ts'
import type { McpServer } from '../../contract/mcp-server.ts'

type Kinds = McpServer['clientRequests']

/** The capability of a client that answers a request. */
const kindOf: Readonly<Record<string, Kinds[number]>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
}

/** The part of a client that a server learns of and may use; undefined if there is none. */
export function usableInput(input: CallerInput | undefined, kinds: Kinds): CallerInput | undefined {
  if (input === undefined) return undefined
  const usable = Object.entries(input.capabilities).filter(([kind]) => kinds.some((each) => each === kind))
  return usable.length === 0 ? undefined : { ...input, capabilities: Object.fromEntries(usable) }
}

/** Refuses a result that requests something of the client that the definition of the server does not pass on. */
export function passRequests<Result extends object>(server: string, result: Result, kinds: Kinds): Result {
  if (!('inputRequests' in result)) return result
  const requests = Object.values((result.inputRequests ?? {}) as Record<string, { readonly method?: unknown }>)
  const refused = requests.find(({ method }) => !kinds.some((kind) => kind === kindOf[String(method)]))
  if (refused === undefined) return result
  throw notPassedOn(server, String(refused.method).slice(0, 100))
}

// The protocol has no other error with this code.
const missingCapability = -32021

/** The error of a request; one for a capability that the server did not learn of is not for the lack of it. */
export function explainMissing(server: string, error: unknown, kinds: Kinds): unknown {
  const { code, data } = error as { code?: unknown; data?: { readonly requiredCapabilities?: object } }
  const required = code === missingCapability ? Object.keys(data?.requiredCapabilities ?? {}) : []
  const hidden = required.find((kind) => !kinds.some((each) => each === kind))
  return hidden === undefined ? error : notPassedOn(server, hidden.slice(0, 100))
}

const notPassedOn = (server: string, what: string): TooldexError =>
  new TooldexError(
    'POLICY_REFUSED',
    `The MCP server '${server}' requests ${what} of the client, which is not passed on.`,
    {
      hint: 'An administrator may add the kind of request to clientRequests of the server.',
    },
  )
