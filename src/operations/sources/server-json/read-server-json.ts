import { TooldexError } from '../../../base/errors.ts'
import { isObject } from '../../../base/json-values.ts'
import { ServerJson } from '../../../contract/server-json.ts'
import { describedParse, describeZodIssue } from '../../../diagnostics/zod-issues.ts'
import { readJsonc } from '../../../documents/read-jsonc.ts'

/** Reads a `server.json` of any revision, or the answer of a registry that contains one. */
export function readServerJson(text: string, file: string): ServerJson {
  const read = readJsonc(text, file)
  const document = isObject(read) && isObject(read.server) ? read.server : read
  const parsed = ServerJson.safeParse(inPresentForm(document), describedParse)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => ({
    severity: 'error' as const,
    message: describeZodIssue(issue).message,
    pointer: `/${issue.path.map(String).join('/')}`,
  }))
  throw new TooldexError('INPUT_INVALID', `${file} is not a valid server.json.`, {
    problems,
    hint: 'Fix the listed problems; the format is described at https://modelcontextprotocol.io/registry.',
  })
}

/** The first revisions had names such as `registry_type`, and the version in an object. */
function inPresentForm(document: unknown): unknown {
  const renamed = withCamelCase(document)
  if (!isObject(renamed)) return renamed
  const { versionDetail, remotes } = renamed
  const version = isObject(versionDetail) ? versionDetail.version : undefined
  return {
    ...(version === undefined ? {} : { version }),
    ...renamed,
    ...(Array.isArray(remotes) ? { remotes: remotes.map(withType) } : {}),
  }
}

const withType = (remote: unknown): unknown =>
  isObject(remote) && remote.type === undefined ? { ...remote, type: remote.transportType } : remote

function withCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withCamelCase)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      // The names of variables are those of the author.
      if (key === 'variables' && isObject(inner)) return [key, mapValues(inner)]
      return [key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), withCamelCase(inner)]
    }),
  )
}

const mapValues = (values: object): object =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, withCamelCase(value)]))
