import { type FetchLike, SdkErrorCode, SdkHttpError, SseError } from '@modelcontextprotocol/client'

/** An error of the event stream with the HTTP status, as those of the newer transport have it. */
export function sseError(error: unknown): unknown {
  const status = error instanceof SseError ? error.code : undefined
  return status === undefined ? error : httpError(status, error)
}

/** Rejects messages that the server does not accept, with the HTTP status; the client would quote the response. */
export const failingPosts =
  (send: FetchLike): FetchLike =>
  async (url, init) => {
    const response = await send(url, init)
    if (init?.method !== 'POST' || response.ok) return response
    await response.body?.cancel()
    throw httpError(response.status)
  }

const httpError = (status: number, cause?: unknown): SdkHttpError =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `HTTP ${status}`, { status, statusText: '' }, { cause })
