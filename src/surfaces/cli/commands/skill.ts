import { copyFileSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { TooldexError } from '../../../base/errors.ts'
import { ensureFolder } from '../../../base/home-files.ts'
import { skillFile } from '../../../base/package-info.ts'
import type { AddCommand } from './command.ts'

/** `tooldex skill`: the guide for agents that write configs. */
export const addSkill: AddCommand = (program, host) => {
  program
    .command('skill')
    .option('--path', 'print the path of the guide')
    .option('--install', 'copy the guide to .claude/skills/tooldex-config/SKILL.md in this folder')
    .action((flags: { path?: boolean; install?: boolean }) => {
      if (flags.path) return host.out(`${skillFile}\n`)
      if (!flags.install) return host.out(readFileSync(skillFile, 'utf8'))
      const target = join(process.cwd(), '.claude', 'skills', 'tooldex-config', 'SKILL.md')
      try {
        ensureFolder(dirname(target))
        copyFileSync(skillFile, target)
      } catch (cause) {
        throw new TooldexError('FILE_REFUSED', `${target} cannot be written.`, {
          hint: 'Run this in a folder that you can write to.',
          cause,
        })
      }
      host.out(`Installed ${target}\n`)
    })
}
