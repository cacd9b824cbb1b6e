import { readAllowedFolders, Sandbox, splitFolderList } from '../executors/index.ts'
import { tooldexHome } from '../sources/cli/index.ts'
import type { OpenOptions } from '../surfaces/cli/index.ts'

/** What the operator allows the processes of tools. */
type AllowedProcesses = Pick<OpenOptions, 'allowLimited' | 'allowNetwork' | 'allowFolders' | 'maxOutput'>

/** Where tools that are processes run, as the operator allows it. */
export function openSandbox(
  env: NodeJS.ProcessEnv,
  { allowLimited, allowNetwork, allowFolders, maxOutput }: AllowedProcesses,
): Sandbox {
  const folders = [...(allowFolders ?? []), ...splitFolderList(env.TOOLDEX_ALLOW_FOLDERS ?? '')]
  return new Sandbox({
    env,
    allowLimited: allowLimited ?? isOn(env.TOOLDEX_ALLOW_LIMITED),
    allowNetwork: allowNetwork ?? isOn(env.TOOLDEX_ALLOW_NETWORK),
    folders: readAllowedFolders(folders, tooldexHome(env)),
    limits: maxOutput === undefined ? {} : { outputBytes: maxOutput },
  })
}

const isOn = (text: string | undefined): boolean => /^(1|true|yes|on)$/i.test(text ?? '')
