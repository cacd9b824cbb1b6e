import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { onTestFinished } from 'vitest'
import { projectRoot } from '../support/run-cli.ts'

export const everythingScript = join(projectRoot, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')

// The server prints the port of its settings and not the one that it got.
const printPort = `import net from 'node:net'
const { listen } = net.Server.prototype
net.Server.prototype.listen = function (...args) {
  this.once('listening', () => process.stdout.write(this.address().port + '\\n'))
  return listen.apply(this, args)
}`

/** Starts the published server over HTTP on a free port; it ends with the test. */
export async function startEverything(mode: 'sse' | 'streamableHttp') {
  const preload = `data:text/javascript,${encodeURIComponent(printPort)}`
  const start = async (port: string) => {
    const child = spawn(process.execPath, ['--import', preload, everythingScript, mode], {
      env: { ...process.env, PORT: port },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [printed] = await once(child.stdout as Readable, 'data')
    return { child, port: String(printed).trim() }
  }
  let current = await start('0')
  const { port } = current
  return {
    origin: `http://127.0.0.1:${port}`,
    /** Kills it, and starts it again on the same port. */
    async restart() {
      const exited = once(current.child, 'exit')
      current.child.kill('SIGKILL')
      await exited
      current = await start(port)
    },
  }
}
