import { type KeyShape, sameKeys } from '../documents/yaml-keys.ts'

const argKeys: KeyShape = {
  keys: sameKeys('name type description required default flag positional cwd stdin enum repeat items root'),
}

/** The annotations without the suffix of their MCP names. */
const shortHints = {
  read_only: 'readOnlyHint',
  destructive: 'destructiveHint',
  idempotent: 'idempotentHint',
  open_world: 'openWorldHint',
}

const toolKeys: KeyShape = {
  keys: {
    ...sameKeys('name description command args timeout category tags annotations isolation network root'),
    example_requests: 'exampleRequests',
    end_of_options: 'endOfOptions',
    inherit_env: 'inheritEnv',
  },
  inside: {
    args: argKeys,
    annotations: {
      keys: { ...shortHints, ...sameKeys('readOnlyHint destructiveHint idempotentHint openWorldHint') },
    },
  },
}

/** The keys of a config file. */
export const configKeys: KeyShape = {
  keys: {
    ...sameKeys('name description command env category tags tools isolation network root'),
    working_dir: 'workingDir',
    global_args: 'globalArgs',
    inherit_env: 'inheritEnv',
    end_of_options: 'endOfOptions',
  },
  inside: { tools: toolKeys, global_args: argKeys },
}
