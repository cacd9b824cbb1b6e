import { spawn } from 'node:child_process'
import { join } from 'node:path'

export const projectRoot = join(import.meta.dirname, '..', '..')
export const mainFile = join(projectRoot, 'dist', 'app', 'main.js')

/** What a command line printed and how it ended. */
export interface CliResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface CliOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly input?: string
}

/** Runs the built `tooldex` with these words. */
export function runCli(words: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const env = { ...process.env, NO_COLOR: '1', ...options.env }
  const child = spawn(process.execPath, [mainFile, ...words], { cwd: options.cwd, env, timeout: 170_000 })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}
