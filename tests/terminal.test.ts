import { spawnSync } from 'node:child_process'
import { expect } from 'vitest'
import { needs } from './support/needs.ts'
import { mainFile } from './support/run-cli.ts'
import { tempConfig } from './support/temp-config.ts'
import { tempScript } from './support/temp-folder.ts'

const hasScript = spawnSync('script', ['--version']).status === 0
const title = '\u001b]0;owned\u0007'

needs(hasScript, 'needs the program script, for a terminal')(
  'what a tool prints commands no terminal, and reaches a pipe as it is',
  () => {
    const program = tempScript('titles', `#!/bin/sh\nprintf '%b' '\\033]0;owned\\007well\\033[2J\\n'\n`)
    const config = tempConfig('titles.yaml', `command: ${program}\ntools: [{name: t, description: d}]\n`)
    const words = [process.execPath, mainFile, 'call', '-c', config, 't']
    const piped = spawnSync(words[0] as string, words.slice(1), { encoding: 'utf8' })
    expect([piped.status, piped.stdout]).toEqual([0, `${title}well\u001b[2J\n`])
    const line = words.map((word) => `'${word}'`).join(' ')
    const { stdout, status } = spawnSync('script', ['-qec', line, '/dev/null'], { encoding: 'utf8' })
    expect([status, stdout]).toEqual([0, '\\u{1b}]0;owned\\u{7}well\\u{1b}[2J\r\n'])
  },
)
