import { ensureFolder } from '../base/file-system.ts'
import { readAllowedFolders, Sandbox, Shield, splitFolderList } from '../executors/index.ts'
import { environmentsFolder } from '../operations/server/python-environments.ts'
import { readSetting } from '../rules/settings.ts'
import { tooldexHome } from '../sources/cli/index.ts'
import type { OpenOptions } from '../surfaces/cli/index.ts'

/** Permissions of the processes of tools. */
export interface AllowedProcesses
  extends Pick<OpenOptions, 'allowLimited' | 'allowNetwork' | 'allowFolders' | 'maxOutput'> {
  /** Whether there are remote callers, so that this process hides itself from tools. */
  readonly hide?: boolean | undefined
}

/** Opens the sandbox with the permissions of the operator. */
export function openSandbox(
  env: NodeJS.ProcessEnv,
  { allowLimited, allowNetwork, allowFolders, maxOutput, hide }: AllowedProcesses,
): Sandbox {
  const folders = [...(allowFolders ?? []), ...splitFolderList(readSetting('TOOLDEX_ALLOW_FOLDERS', env) ?? '')]
  const shield = hide === true && readSetting('TOOLDEX_SHIELD', env) ? openShield(env) : undefined
  return new Sandbox({
    env,
    shield,
    allowLimited: allowLimited ?? readSetting('TOOLDEX_ALLOW_LIMITED', env),
    allowNetwork: allowNetwork ?? readSetting('TOOLDEX_ALLOW_NETWORK', env),
    folders: readAllowedFolders(folders, tooldexHome(env)),
    limits: maxOutput === undefined ? {} : { outputBytes: maxOutput },
  })
}

function openShield(env: NodeJS.ProcessEnv): Shield {
  const home = tooldexHome(env)
  ensureFolder(home)
  return new Shield({ env, hidden: home, shown: environmentsFolder(env) })
}
