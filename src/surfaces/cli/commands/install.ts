import { resolve } from 'node:path'
import colors from 'picocolors'
import { clientNames } from '../../../operations/clients.ts'
import { installClient } from '../../../operations/install-client.ts'
import { invoke } from '../../../operations/invoke.ts'
import { type AddCommand, collect, toJson } from './command.ts'

interface InstallFlags {
  readonly config?: string[]
  readonly policy?: string
  readonly name?: string
  readonly classic?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** `tooldex install CLIENT CONFIG...`: writes the server into a client's config. */
export const addInstall: AddCommand = (program, host) => {
  program
    .command('install')
    .description('add Tooldex to an MCP client, keeping a backup of its config')
    .argument('<client>', `one of: ${clientNames.join(', ')}`)
    .argument('[config...]', 'the configs to serve; all named ones if left out')
    .option('-c, --config <name|file>', 'another config to serve', collect)
    .option('--policy <file>', 'a policy file that says what may be called')
    .option('--name <name>', 'what the client calls the server', 'tooldex')
    .option('--classic', 'list every tool itself')
    .option('--dry-run', 'show the change, and change nothing')
    .option('--json', 'print JSON for programs')
    .action(async (client: string, names: string[], flags: InstallFlags) => {
      const given = [...names, ...(flags.config ?? [])].map(toAbsolute)
      const configs = given.length > 0 ? given : host.configNames()
      const policy = flags.policy === undefined ? [] : ['--policy', resolve(flags.policy)]
      const command = [...host.selfCommand(), 'run', ...(flags.classic ? ['--classic'] : []), ...policy, ...configs]
      const input = { client, command, name: flags.name, dryRun: flags.dryRun }
      // Opening them first: a client that starts a server that cannot start says little about why.
      const answer = await invoke(installClient, input, host.open({ configs, policy: flags.policy }))
      host.out(flags.json ? toJson(answer) : toText(answer, flags.dryRun === true))
    })
}

/** A client starts the server in a folder of its own, so a path must not depend on this one. */
const toAbsolute = (config: string) => (/[/\\]|\.ya?ml$/i.test(config) ? resolve(config) : config)

function toText(answer: Awaited<ReturnType<typeof installClient.handle>>, dryRun: boolean): string {
  const { file, changed, backup, diff, next, client } = answer
  if (!changed) return `${client} has it already: ${file}\n`
  const paint = (line: string) => (line[0] === '+' ? colors.green(line) : line[0] === '-' ? colors.red(line) : line)
  const said = dryRun ? `Would change ${file}:` : `Changed ${file}:`
  const lines = [said, ...diff.map(paint)]
  if (backup !== null) lines.push(`The old one is kept as ${backup}`)
  if (!dryRun) lines.push(next)
  return `${lines.join('\n')}\n`
}
