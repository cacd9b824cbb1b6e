import type { Environment } from '../../base/expand-variables.ts'
import { parseTypedYaml } from '../../base/typed-yaml.ts'
import { type KeyShape, sameKeys } from '../../base/yaml-keys.ts'
import { CliConfig } from '../../contract/cli-config.ts'
import type { LoadedConfig } from '../../contract/source.ts'
import { checkConfig } from './check-config.ts'

/** How strictly a config is read, and with which environment. */
export interface ParseOptions {
  /** Unknown keys are errors, not warnings. */
  readonly strict?: boolean | undefined
  readonly env?: Environment | undefined
}

const argKeys: KeyShape = {
  keys: sameKeys('name type description required default flag positional cwd stdin enum repeat items root'),
}

const toolKeys: KeyShape = {
  keys: {
    ...sameKeys('name description command args timeout category tags annotations'),
    example_requests: 'exampleRequests',
    end_of_options: 'endOfOptions',
    inherit_env: 'inheritEnv',
  },
  inside: {
    args: argKeys,
    annotations: {
      keys: { read_only: 'readOnly', destructive: 'destructive', idempotent: 'idempotent', open_world: 'openWorld' },
    },
  },
}

/** The keys of a config file. */
export const configKeys: KeyShape = {
  keys: {
    ...sameKeys('name description command env category tags tools'),
    working_dir: 'workingDir',
    global_args: 'globalArgs',
    inherit_env: 'inheritEnv',
    end_of_options: 'endOfOptions',
  },
  inside: { tools: toolKeys, global_args: argKeys },
}

/** Reads a config from YAML text. */
export function parseConfig(text: string, file: string, options: ParseOptions = {}): LoadedConfig {
  const env = options.env ?? process.env
  const { value, warnings } = parseTypedYaml(text, file, { ...configKind, check: (config) => checkConfig(config, env) }, options.strict)
  return { file, config: value, warnings }
}

const configKind = {
  schema: CliConfig,
  keys: configKeys,
  code: 'CONFIG_INVALID',
  needs: "at least 'command' and 'tools'",
} as const
