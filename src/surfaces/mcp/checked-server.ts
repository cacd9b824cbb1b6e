import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { TooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/visible-text.ts'

type Handler = Parameters<Server['_wrapHandler']>[1]

/** A server whose errors are the fault of the caller only if they are, and reveal nothing of the process. */
export class CheckedServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const wrapped = super._wrapHandler(method, handler)
    return async (request, context) => {
      try {
        return await wrapped(request, context)
      } catch (thrown) {
        throw toProtocolError(method, thrown)
      }
    }
  }
}

/** The package reports parameters of the wrong shape as a plain Error, which clients would see as an internal error. */
function toProtocolError(method: string, thrown: unknown): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown
  if (thrown instanceof TooldexError)
    return new ProtocolError(ProtocolErrorCode.InternalError, `${thrown.message} ${thrown.hint}`.trim())
  if (!isPlainError(thrown)) return new ProtocolError(ProtocolErrorCode.InternalError, 'An internal error occurred.')
  const text = `The parameters of ${method} are not valid${listIssues(thrown.message)}.`
  return new ProtocolError(ProtocolErrorCode.InvalidParams, text)
}

const isPlainError = (thrown: unknown): thrown is Error =>
  thrown instanceof Error && Object.getPrototypeOf(thrown) === Error.prototype && !('code' in thrown)

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** The issues of a shape, which arrive as JSON. */
function listIssues(json: string): string {
  try {
    const issues = JSON.parse(json) as readonly Issue[]
    const texts = issues.slice(0, 5).map(({ path, message }) => `${path.map(String).join('.')}: ${message}`)
    return `: ${toOneLine(texts.join('; ')).slice(0, 500)}`
  } catch {
    return ''
  }
}
