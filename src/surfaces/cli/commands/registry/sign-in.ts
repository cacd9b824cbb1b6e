import type { Command } from 'commander'
import { TooldexError } from '../../../../base/errors.ts'
import { getSignIn, signInSource, signOutSource } from '../../../../operations/sources/sign-in.ts'
import type { CliHost } from '../../host.ts'
import { parseCount, toJson } from '../command.ts'
import { operationCommands } from '../operation-command.ts'
import { type RegistryFlags, withRegistry, withRegistryOptions } from './registry-command.ts'

interface SignInFlags extends RegistryFlags {
  readonly wait: boolean
  readonly timeout?: number
}

const usualSeconds = 600
const maxWaitMs = 20_000

/** `tooldex sources sign-in NAME` and `sign-out NAME`. */
export function addSignIn(group: Command, host: CliHost): void {
  const command = group
    .command('sign-in')
    .description('print the URL where you sign in at the server of a source, and wait until that is done')
    .argument('<name>')
    .option('--no-wait', 'print the URL only')
    .option('--timeout <seconds>', 'the longest wait for the sign-in, 600 by default', parseCount)
  withRegistryOptions(command).action((name: string, flags: SignInFlags) =>
    withRegistry(host, flags, async (registry) => {
      const { url, ...begun } = await registry.invoke(signInSource, { name })
      if (!flags.wait) return host.out(flags.json ? toJson({ ...begun, url }) : `${url}\n`)
      host.err(`Open this URL in a browser, and sign in there:\n${url}\n`)
      const until = performance.now() + (flags.timeout ?? usualSeconds) * 1000
      let state = begun
      while (state.revision === begun.revision) {
        const waitMs = Math.floor(Math.min(maxWaitMs, until - performance.now()))
        if (waitMs <= 0) throw late(name)
        state = await registry.invoke(getSignIn, { name, after: begun.revision, waitMs })
      }
      host.out(flags.json ? toJson(state) : `Signed in to ${name} (${state.issuer}).\n`)
    }),
  )
  operationCommands(
    group,
    host,
  )({
    line: 'sign-out <name>',
    operation: signOutSource,
    text: ({ name }) => `Signed out of ${name}.\n`,
  })
}

const late = (name: string): TooldexError =>
  new TooldexError('UNAVAILABLE', `Nobody signed in to ${name} in time.`, {
    hint: 'The URL is valid for an hour: sign in there, or run the command again with a longer --timeout.',
  })
