/** The trace that a request says it belongs to (W3C traceparent); what is not one is no trace. */
export function readTrace(header: string | undefined): { traceId: string; traceparent: string } | undefined {
  const [, traceId] = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(header ?? '') ?? []
  if (traceId === undefined || /^0+$/.test(traceId)) return undefined
  return { traceId, traceparent: header as string }
}
