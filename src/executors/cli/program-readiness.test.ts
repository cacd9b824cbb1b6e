import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../../../tests/support/temp-folder.ts'
import type { ResolvedTool } from '../../contract/tool-index.ts'
import { ProgramReadiness } from './cli-executor.ts'

function toolOf(baseCommand: string, rest: Partial<ResolvedTool> = {}): ResolvedTool {
  const tool = { name: 't', description: '', command: '', args: [], tags: [], exampleRequests: [] }
  const none = { env: {}, workingDir: null, globalArgs: [], descriptionOverride: null, argConstraints: {} }
  return { tool, baseCommand, ...none, ...rest }
}

/** A folder to put programs into, and who looks there. */
function lookout(PATH = tempFolder()) {
  const time = { now: 0 }
  const readiness = new ProgramReadiness({ env: { PATH, HOME: PATH }, now: () => time.now })
  const install = (name: string, mode = 0o755) => {
    writeFileSync(join(PATH, name), '#!/bin/sh\n')
    chmodSync(join(PATH, name), mode)
  }
  return { readiness, install, time, folder: PATH }
}

const missing = { state: 'needs-program', reason: 'Command not found: prog' }

describe('the readiness of a command', () => {
  it('is that of its program: there, not there, not executable', () => {
    const { readiness, install } = lookout()
    install('there')
    install('data', 0o644)
    expect(readiness.of(toolOf('there --quiet'))).toEqual({ state: 'ready' })
    expect(readiness.of(toolOf('$HOME/there'))).toEqual({ state: 'ready' })
    expect(readiness.of(toolOf('prog'))).toEqual(missing)
    expect(readiness.of(toolOf('data'))).toMatchObject({
      state: 'needs-program',
      reason: 'data is not executable.',
    })
  })

  it('is looked for where the config says', () => {
    const { readiness } = lookout()
    const other = lookout()
    other.install('prog')
    expect(readiness.of(toolOf('prog'))).toEqual(missing)
    expect(readiness.of(toolOf('prog', { env: { PATH: other.folder } }))).toEqual({ state: 'ready' })
    expect(readiness.of(toolOf('./prog', { workingDir: other.folder }))).toEqual({ state: 'ready' })
  })

  it('is remembered for a few seconds and then looked at again, either way', () => {
    const { readiness, install, time, folder } = lookout()
    expect(readiness.of(toolOf('prog'))).toEqual(missing)
    install('prog')
    time.now = 4999
    expect(readiness.of(toolOf('prog'))).toEqual(missing)
    time.now = 5000
    expect(readiness.of(toolOf('prog'))).toEqual({ state: 'ready' })
    rmSync(join(folder, 'prog'))
    time.now = 10_000
    expect(readiness.of(toolOf('prog'))).toEqual(missing)
  })

  it('in a container is that of docker', () => {
    const where = () => ({ type: 'docker', image: 'i', volumes: [] }) as const
    const readiness = new ProgramReadiness({ env: { PATH: tempFolder() }, where: () => ({ ...where(), volumes: [] }) })
    expect(readiness.of(toolOf('prog'))).toEqual({ state: 'needs-program', reason: 'Command not found: docker' })
  })
})
