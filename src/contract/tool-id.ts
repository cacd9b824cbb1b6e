import { TooldexError } from '../base/errors.ts'

/** The parts of a tool id: `namespace:name:version`, `namespace:name` or `name`. */
export interface ToolId {
  readonly namespace?: string | undefined
  readonly name: string
  readonly version?: string | undefined
}

/** Writes an id; a version needs a namespace, or it would read as a name. */
export function formatToolId({ namespace, name, version }: ToolId): string {
  if (name === '')
    throw new TooldexError('INPUT_INVALID', 'A tool id needs a name, and this one is empty.', {
      hint: 'Write name, namespace:name or namespace:name:version.',
    })
  if (namespace === undefined || namespace === '') return version === undefined ? name : `${name}@${version}`
  return [namespace, name, ...(version === undefined ? [] : [version])].join(':')
}

/** The namespace by which a registered tool without one is named where another source has a tool of its name. */
const registryNamespace = 'registry'

/** Whether a tool is in the namespace that an id names. */
export const isInNamespace = (namespace: string | null | undefined, asked: string | undefined): boolean =>
  asked === undefined || asked === (namespace || registryNamespace)

/** The id of a tool with a namespace in any case, which no tool of another source shares. */
export const toFullId = ({
  name,
  namespace,
}: {
  readonly name: string
  readonly namespace?: string | null | undefined
}) => formatToolId({ name, namespace: namespace || registryNamespace })

/** Reads an id; `name@3` and `namespace:name@3` are other spellings of a pinned version. */
export function parseToolId(text: string): ToolId {
  const [, plain = text, pinned] = /^(.*)@(\d+)$/s.exec(text) ?? []
  const parts = plain.split(':')
  const tooMany = parts.length > (pinned === undefined ? 3 : 2)
  if (tooMany || parts.some((part) => part === '')) {
    throw new TooldexError('INPUT_INVALID', `'${text.slice(0, 200)}' is not a tool id.`, {
      hint: 'Write name, namespace:name or namespace:name:version.',
    })
  }
  const [first = '', second, third] = parts
  const version = pinned ?? third
  const id = second === undefined ? { name: first } : { namespace: first, name: second }
  return version === undefined ? id : { ...id, version }
}
