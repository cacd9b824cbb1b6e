import { createHash } from 'node:crypto'
import { TooldexError } from '../base/errors.ts'

/** The parts of a tool id: `namespace:name:version`, `namespace:name` or `name`. */
export interface ToolId {
  readonly namespace?: string | undefined
  readonly name: string
  readonly version?: string | undefined
}

/** Formats an id; a version without a namespace is written as `name@version`, because `name:version` means namespace and name. */
export function formatToolId({ namespace, name, version }: ToolId): string {
  if (name === '')
    throw new TooldexError('INPUT_INVALID', 'The name of a tool id is empty.', {
      hint: 'Write name, namespace:name or namespace:name:version.',
    })
  if (namespace === undefined || namespace === '') return version === undefined ? name : `${name}@${version}`
  return [namespace, name, ...(version === undefined ? [] : [version])].join(':')
}

/** The namespace of registered tools without one, where another source has a tool of the same name. */
const registryNamespace = 'registry'

/** Whether a tool is in the namespace of an id. */
export const isInNamespace = (namespace: string | null | undefined, requested: string | undefined): boolean =>
  requested === undefined || requested === (namespace || registryNamespace)

/** The id of a tool with a namespace in every case, so that it is unique over all sources. */
export const toFullId = ({
  name,
  namespace,
}: {
  readonly name: string
  readonly namespace?: string | null | undefined
}) => formatToolId({ name, namespace: namespace || registryNamespace })

/** Parses an id; `name@3` and `namespace:name@3` are other spellings of a pinned version. */
export function parseToolId(text: string): ToolId {
  const [, plain = text, pinned] = /^(.*)@(\d+)$/s.exec(text) ?? []
  const parts = plain.split(':')
  const tooMany = parts.length > (pinned === undefined ? 3 : 2)
  if (tooMany || parts.some((part) => part === '')) {
    throw new TooldexError('INPUT_INVALID', `'${text.slice(0, 200)}' is not a valid tool id.`, {
      hint: 'Write name, namespace:name or namespace:name:version.',
    })
  }
  const [first = '', second, third] = parts
  const version = pinned ?? third
  const id = second === undefined ? { name: first } : { namespace: first, name: second }
  return version === undefined ? id : { ...id, version }
}

/** The error for a bare name that several tools have. */
export const ambiguousName = (name: string, ids: readonly string[]): TooldexError =>
  new TooldexError('INPUT_INVALID', `tool name "${name}" is ambiguous: ${ids.toSorted().join(', ')}`, {
    hint: 'Use one of these ids instead of the name.',
  })

// Clients add a prefix to the name of a tool, and several reject more than 64 characters in all.
const maxLength = 50

/** The name of a tool in clients: its own where all clients accept it, otherwise a short one that is always the same. */
export function toClientName(name: string): string {
  if (isClientName(name)) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  const readable = name.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, maxLength - hash.length - 1)
  return `${readable}_${hash}`
}

/** Whether all clients accept a name. */
export const isClientName = (name: string): boolean => /^[A-Za-z0-9_-]+$/.test(name) && name.length <= maxLength
