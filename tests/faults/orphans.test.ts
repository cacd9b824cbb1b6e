import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { mainFile } from '../support/run-cli.ts'
import { startServer } from '../support/start-server.ts'
import { tempFile, tempFolder, tempScript } from '../support/temp-folder.ts'
import { execute, registerCommand } from '../support/traced-tools.ts'
import { childrenOf, commandOf, findProcesses, uniqueSeconds } from './processes.ts'
import { containments } from './run-tool.ts'

const left = (seconds: string) => findProcesses(`sleep ${seconds}`)

/** Sleeps itself, in a child, in a session of its own, and with an empty environment. */
const family = (seconds: string) =>
  tempScript(
    'family',
    `#!/bin/sh\nsleep ${seconds} &\nsetsid sleep ${seconds} &\nenv -i sleep ${seconds} &\nsleep ${seconds}\n`,
  )
const members = 4

describe('66: no child outlives the process that started it', () => {
  for (const { kind, it: where } of containments) {
    where(`66 (${kind}): kill -9 of a server takes waited and queued calls with it`, async () => {
      const seconds = uniqueSeconds()
      const server = await startServer({
        limitedBecause: 'the containment of commands with limits only is the subject',
        words: ['--containment', kind],
      })
      await registerCommand(server, 'family', family(seconds))
      const waited = execute(server, 'family', {}, { wait: true }).catch(() => 'cut off')
      await execute(server, 'family', {})
      await expect.poll(() => left(seconds).length).toBe(2 * members)
      server.signal('SIGKILL')
      await expect.poll(() => left(seconds)).toEqual([])
      expect(await waited).toBe('cut off')
      await server.stop()
    })

    where(
      `66 (${kind}): kill -9 of a command takes its call with it, and a call that ended is not touched`,
      async () => {
        const seconds = uniqueSeconds()
        const config = tempFile('family.yaml', `command: ${family(seconds)}\ntools: [{name: t, description: d}]\n`)
        const child = spawn(process.execPath, [mainFile, 'call', '-c', config, '--containment', kind, 't'], {
          stdio: 'ignore',
        })
        await expect.poll(() => left(seconds).length).toBe(members)
        child.kill('SIGKILL')
        await expect.poll(() => left(seconds)).toEqual([])
      },
    )
  }

  it('66: the watcher of a process ends with it', async () => {
    const goOn = join(tempFolder(), 'go-on')
    const held = tempScript('held', `#!/bin/sh\nuntil [ -e ${goOn} ]; do sleep 0.05; done\n`)
    const config = tempFile('held.yaml', `command: ${held}\ntools: [{name: t, description: d}]\n`)
    const words = ['call', '-c', config, '--containment', 'process-group', 't']
    const child = spawn(process.execPath, [mainFile, ...words], { stdio: 'ignore' })
    const exited = new Promise((resolve) => child.once('exit', resolve))
    const isWatcher = (pid: number) => commandOf(pid).includes('live="$live$pid "')
    const watchers = () => childrenOf(child.pid as number).filter(isWatcher)
    await expect.poll(watchers).toHaveLength(1)
    const [watcher] = watchers() as [number]
    writeFileSync(goOn, '')
    expect(await exited).toBe(0)
    await expect.poll(() => isWatcher(watcher)).toBe(false)
  })
})
