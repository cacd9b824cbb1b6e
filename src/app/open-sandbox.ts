import { Sandbox } from '../executors/index.ts'
import type { OpenOptions } from '../surfaces/cli/index.ts'

/** What an admin allows the processes of tools. */
type AllowedProcesses = Pick<OpenOptions, 'allowLimited' | 'allowNetwork' | 'allowFolders' | 'maxOutput'>

/** Where tools that are processes run, as the admin allows it. */
export function openSandbox(
  env: NodeJS.ProcessEnv,
  { allowLimited, allowNetwork, allowFolders, maxOutput }: AllowedProcesses,
): Sandbox {
  const folders = [...(allowFolders ?? []), ...(env.TOOLDEX_ALLOW_FOLDERS ?? '').split(':')]
  return new Sandbox({
    env,
    allowLimited: allowLimited ?? isOn(env.TOOLDEX_ALLOW_LIMITED),
    allowNetwork: allowNetwork ?? isOn(env.TOOLDEX_ALLOW_NETWORK),
    folders: folders.filter((folder) => folder.startsWith('/')),
    limits: maxOutput === undefined ? {} : { outputBytes: maxOutput },
  })
}

const isOn = (text: string | undefined): boolean => /^(1|true|yes|on)$/i.test(text ?? '')
