import { spawn } from 'node:child_process'
import { mainFile } from './run-cli.ts'

/** A `tooldex serve` as a person starts it, which says what it does. */
export interface PlainServer {
  readonly url: string
  /** What it has said so far. */
  said(): string
  stop(): Promise<void>
}

/** Starts a server and waits until it says where it is. */
export async function startPlainServer(
  env: Readonly<Record<string, string | undefined>>,
  words: readonly string[] = [],
): Promise<PlainServer> {
  const child = spawn(process.execPath, [mainFile, 'serve', '--port', '0', ...words], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
      const [, found] = / at (http:\S+)/.exec(said) ?? []
      if (found !== undefined && said.includes('stop with Ctrl+C')) resolve(found)
    })
    child.once('close', () => reject(new Error(`the server ended: ${said}`)))
  })
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  return { url, said: () => said, stop }
}
