import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const program = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)

/** Why tests in a browser are left out; empty where they are not. */
export const noBrowser = program === undefined ? ' [skipped: there is no Chromium here]' : ''

/** A real browser that asks nobody but the servers of the test. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: program ?? '',
    timeout: 120_000,
    args: [
      ...(process.geteuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
