const errorResponse = 'E'.charCodeAt(0)

/** Why the server does not let us in, where that is what it says; messages are a letter, a length and a body each. */
export function findRefusal(chunk: Buffer): { readonly code: string; readonly message: string } | undefined {
  for (let at = 0; at + 5 <= chunk.length; ) {
    const end = at + 1 + chunk.readUInt32BE(at + 1)
    if (end <= at + 4) return undefined
    if (chunk[at] === errorResponse) return readFields(chunk.subarray(at + 5, end))
    at = end
  }
  return undefined
}

function readFields(body: Buffer): { readonly code: string; readonly message: string } {
  const fields = body.toString('utf8').split('\0')
  const find = (letter: string) => fields.find((field) => field.startsWith(letter))?.slice(1)
  return { code: find('C') ?? '08004', message: find('M') ?? 'the server refused the connection' }
}
