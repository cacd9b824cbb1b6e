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
    const program = tempScript('titles', `#!/bin/sh\nprintf '%b' '\\033]0;owned\\007well\\033[2J\\rover\\n'\n`)
    const config = tempConfig('titles.yaml', `command: ${program}\ntools: [{name: t, description: d}]\n`)
    const words = [process.execPath, mainFile, 'call', '-c', config, 't']
    const piped = spawnSync(words[0] as string, words.slice(1), { encoding: 'utf8' })
    expect([piped.status, piped.stdout]).toEqual([0, `${title}well\u001b[2J\rover\n`])
    const line = words.map((word) => `'${word}'`).join(' ')
    const { stdout, status } = spawnSync('script', ['-qec', line, '/dev/null'], { encoding: 'utf8' })
    expect([status, stdout]).toEqual([0, '\\u{1b}]0;owned\\u{7}well\\u{1b}[2J\\rover\r\n'])
  },
)

needs(hasScript, 'needs the program script, for a terminal')('the colors of a command reach a terminal', () => {
  const config = tempConfig('colors.yaml', 'command: echo\ntools: [{name: t, description: d}]\n')
  const line = [process.execPath, mainFile, 'validate', config].map((word) => `'${word}'`).join(' ')
  const { NO_COLOR: _noColor, ...inherited } = process.env
  const env = { ...inherited, TERM: 'xterm', FORCE_COLOR: '1' }
  const { stdout } = spawnSync('script', ['-qec', line, '/dev/null'], { encoding: 'utf8', env })
  expect(stdout).toContain('\u001b[32m')
})
