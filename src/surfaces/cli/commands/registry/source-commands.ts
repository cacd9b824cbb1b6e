import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { TooldexError } from '../../../../base/errors.ts'
import { toOneLine } from '../../../../base/invisible-characters.ts'
import { listSources } from '../../../../operations/server/list-sources.ts'
import { acceptChangesOf, refuseChangesOf } from '../../../../operations/sources/decide-changes.ts'
import type { SourceDetail } from '../../../../operations/sources/source-view.ts'
import * as sources from '../../../../operations/sources/sources.ts'
import { leftOutReason } from '../../../../operations/sources/store-reading.ts'
import type { CliHost, RegistryClient } from '../../host.ts'
import { type AddCommand, collect, parseCount, toJson } from '../command.ts'
import { operationCommands, tableText } from '../operation-command.ts'
import { definedOptions, type RegistryFlags, withRegistry, withRegistryOptions } from './registry-command.ts'
import { readRegistryFile, registryFileOf } from './registry-file.ts'
import { addSignIn } from './sign-in.ts'

interface AddFlags extends RegistryFlags {
  readonly env?: readonly string[]
  readonly header?: readonly string[]
  readonly cwd?: string
  readonly isolation?: string
  readonly folder?: readonly string[]
  readonly network?: boolean
  readonly allowPrivate?: boolean
  readonly signIn?: 'shared' | 'caller'
  readonly timeout?: number
  readonly trust?: 'hold' | 'trusted' | 'pinned'
  readonly yes?: boolean
  readonly pass?: readonly string[]
  readonly set?: readonly string[]
  readonly package?: string
}

/** `tooldex add NAME -- COMMAND ARGS...`, `tooldex add NAME URL` and `tooldex add registry:FILE`: a whole MCP server as a source. */
export const addAdd: AddCommand = (program, host, exit) => {
  const command = program
    .command('add')
    .argument('<name>', 'the name of the source, which is the namespace of its tools; or registry:FILE')
    .argument(
      '[command-or-url...]',
      'the URL of the server, registry:FILE for a server.json of the MCP registry, or after -- its command with arguments',
    )
    .option('--env <name=value>', 'a variable of the program; secret:NAME refers to a stored secret', collect)
    .option('--header <name: value>', 'a header of each request; secret:NAME refers to a stored secret', collect)
    .option('--cwd <folder>', 'the working directory of the program')
    .option('--isolation <level>', 'the sandbox of the program: isolated or confined; limited is none')
    .option('--folder <path[:ro|:rw]>', 'a folder that its sandbox shows, read-only by default', collect)
    .option('--network', 'give its sandbox the network of the machine')
    .option('--allow-private', 'allow a URL with a private address')
    .option('--sign-in <mode>', 'who signs in at a URL with OAuth: shared (an administrator for all) or caller (each)')
    .option('--timeout <seconds>', 'the timeout of its calls', parseCount)
    .option('--trust <rule>', 'the handling of changed definitions: hold, trusted or pinned')
    .option(
      '--pass <kind>',
      'pass its requests for elicitation, sampling or roots on to a client that can answer',
      collect,
    )
    .option('--set <name=value>', 'the value of an argument or variable of a server.json', collect)
    .option('--package <kind>', 'what to use of a server.json: npm, pypi, oci, nuget or remote (default: the first)')
    .option('-y, --yes', 'approve the command or URL without a question')
  withRegistryOptions(command).action((name: string, words: string[], flags: AddFlags) =>
    withRegistry(host, flags, async (registry) => {
      const added = await registry.invoke(sources.addSource, toSource(name, words, flags))
      await approveShown(added, { registry, host, flags, exit })
    }),
  )
}

/** A source from the words of a command line; one of a `server.json` has the name of its server, or another one. */
function toSource(name: string, words: readonly string[], flags: AddFlags): Record<string, unknown> {
  const file = registryFileOf(words.length === 0 ? [name] : words)
  if (file !== undefined) {
    const { env, headers, ...others } = optionFields(flags)
    const found = readRegistryFile(file, { set: flags.set, package: flags.package, env, headers })
    return { name: words.length === 0 ? found.name : name, ...found.fields, ...definedOptions(others) }
  }
  if (words.length === 0)
    throw new TooldexError('USAGE', `The source '${name}' has no command or URL.`, {
      hint: `Write: tooldex add ${name} -- COMMAND ARGS, tooldex add ${name} URL, or tooldex add registry:FILE`,
    })
  if (flags.set !== undefined || flags.package !== undefined)
    throw new TooldexError('USAGE', '--set and --package are for a server.json.', { hint: 'Write: registry:FILE' })
  return { name, ...toFields(words, flags) }
}

/** The fields of a server from the words of a command line: one word that is a URL, or a command. */
function toFields([first = '', ...args]: readonly string[], flags: AddFlags): Record<string, unknown> {
  const isUrl = /^https?:\/\//i.test(first) && args.length === 0
  if (!isUrl && /^[a-z][a-z\d+.-]*:\/\//i.test(first))
    throw new TooldexError('USAGE', `${first.slice(0, 200)} is neither the URL of an MCP server nor a command.`, {
      hint: 'URLs begin with http:// or https://, and have no words after them; a command follows --.',
    })
  return definedOptions({ ...(isUrl ? { url: first } : { command: first, args }), ...optionFields(flags) })
}

const optionFields = (flags: AddFlags) => ({
  env: flags.env && Object.fromEntries(flags.env.map((pair) => splitPair(pair, '=', '--env NAME=VALUE'))),
  headers:
    flags.header && Object.fromEntries(flags.header.map((pair) => splitPair(pair, ':', "--header 'NAME: VALUE'"))),
  cwd: flags.cwd,
  isolation: flags.isolation,
  folders: flags.folder?.map(toAbsolute),
  network: flags.network,
  allowPrivate: flags.allowPrivate,
  oauth: flags.signIn && { mode: flags.signIn },
  timeoutMs: flags.timeout && flags.timeout * 1000,
  trust: flags.trust,
  clientRequests: flags.pass,
})

/** A folder of the command line, which a server in another folder would not find. */
function toAbsolute(folder: string): string {
  const [, path = '', mode = ''] = /^(.*?)(:ro|:rw)?$/s.exec(folder) ?? []
  return `${resolve(path)}${mode}`
}

function splitPair(pair: string, separator: string, form: string): readonly [string, string] {
  const at = pair.indexOf(separator)
  // The value may be a secret.
  if (at < 1) throw new TooldexError('USAGE', `An option is not of the form ${form}.`)
  return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
}

interface ApproveFlags extends RegistryFlags {
  readonly allowPrivate?: boolean
  readonly yes?: boolean
}

interface Approval {
  readonly registry: RegistryClient
  readonly host: CliHost
  readonly flags: Pick<ApproveFlags, 'json' | 'yes'>
  readonly exit: (code: number) => void
}

/** Shows the exact command, and approves it after --yes or the answer of a person; nothing is started before. */
async function approveShown(source: SourceDetail, { registry, host, flags, exit }: Approval): Promise<void> {
  const { name, approval } = source
  if (approval === undefined) return
  if (!flags.json) host.err(commandText(source))
  if (!flags.yes && !(host.interactive && (await isConfirmed(host)))) {
    const state = source.isApproved ? 'approved already' : 'added, but not approved: nothing was started'
    if (flags.json) host.out(toJson(source))
    else host.out(`${name} is ${state}. Approve it with: tooldex sources approve ${name} --yes\n`)
    return
  }
  const approved = await registry.invoke(sources.approveSource, { name, hash: approval.hash })
  host.out(flags.json ? toJson(approved) : sourceText(approved))
  if (approved.state === 'failed') exit(1)
}

const commandText = ({ approval, server = {} }: SourceDetail): string => {
  const { command = '', needs = [] } = approval ?? {}
  const env = Object.keys(server.env ?? {})
  const lines = [
    `${server.url === undefined ? 'This starts' : 'This contacts'}: ${command}`,
    ...(server.cwd === undefined ? [] : [`in: ${toOneLine(server.cwd)}`]),
    ...(env.length === 0 ? [] : [`variables: ${env.map(toOneLine).join(', ')}`]),
    ...(needs.length === 0 ? [] : [`secrets: ${needs.map(toOneLine).join(', ')}`]),
  ]
  return `${lines.join('\n')}\n`
}

/** Whether a person at the terminal approves what was shown. */
export async function isConfirmed(host: CliHost): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question('Approve it? [y/N] ', { signal: host.signal })).trim())
  } finally {
    lines.close()
  }
}

/** A notice that must not be overlooked: agents do not find these tools. */
const leftOutText = ({ leftOut }: SourceDetail): string =>
  leftOut === undefined ? '' : `At least ${leftOut} definitions were left out: ${leftOutReason}.\n`

const waitingText = ({ name, waiting }: SourceDetail): string =>
  `${waiting} changed definitions wait for a decision: see tooldex sources show ${name}, then write tooldex sources accept ${name} or refuse ${name}\n`

const sourceText = (source: SourceDetail): string =>
  stateText(source) + (source.waiting === 0 ? '' : waitingText(source)) + leftOutText(source)

const stateText = ({ name, state, tools, prompts, resources, lastFailure, signIn }: SourceDetail): string =>
  signIn?.isSignedIn === false
    ? `${name} is approved, and needs a sign-in: tooldex sources sign-in ${name}\n`
    : state === 'failed' || lastFailure !== null
      ? `${name} is approved, but ${toOneLine(lastFailure?.reason ?? 'failed')}. Try again with: tooldex sources refresh ${name}\n`
      : `${name} has ${tools} tools, ${prompts} prompts and ${resources} resources. Find them with: tooldex search QUERY\n`

/** `tooldex sources ...`: the sources of tools. */
export const addSources: AddCommand = (program, host, exit) => {
  const group = program.command('sources')
  const add = operationCommands(group, host)
  add({
    line: 'list',
    operation: listSources,
    isDefault: true,
    text: tableText(
      {
        Name: ({ name }) => name,
        Kind: ({ kind, transport }) => transport ?? kind,
        State: ({ state }) => state,
        Tools: ({ tools }) => tools,
        Waiting: ({ waiting }) => waiting || '',
        'Left out': ({ leftOut }) => (leftOut === undefined ? '' : `${leftOut} or more`),
        'Sign-in': ({ signIn }) => (signIn === undefined ? '' : signIn.isSignedIn ? 'done' : 'needed'),
        Problem: ({ problem }) => toOneLine(problem ?? ''),
      },
      'No sources. Add an MCP server with: tooldex add NAME -- COMMAND',
    ),
  })
  add({ line: 'show <name>', operation: sources.getSource, text: detailText })
  add({ line: 'refresh <name>', operation: sources.refreshSource, text: sourceText })
  add({ line: 'accept <name> [items...]', operation: acceptChangesOf, resolve: withReading, text: decisionText })
  add({ line: 'refuse <name> [items...]', operation: refuseChangesOf, resolve: withReading, text: decisionText })
  add({ line: 'remove <name>', operation: sources.removeSource, text: ({ name }) => `${name} is removed.\n` })
  add({
    line: 'trust <name> <trust>',
    about: 'set the handling of changed definitions: hold, trusted or pinned',
    operation: sources.changeSource,
    text: ({ name, trust }) => `${name}: ${trust}\n`,
  })
  addApprove(group, host, exit)
  addSignIn(group, host)
}

/** A decision is on the changes that are stored now. */
async function withReading(input: Readonly<Record<string, unknown>>, registry: RegistryClient) {
  const { name, items } = input as { name: string; items?: readonly string[] }
  const { reading } = await registry.invoke(sources.getSource, { name })
  return { name, ...(items?.length ? { items } : {}), ...(reading === undefined ? {} : { reading }) }
}

const decisionText = ({ name, tools, waiting }: SourceDetail): string =>
  `${name} has ${tools} tools; ${waiting} changed definitions wait.\n`

function addApprove(group: Command, host: CliHost, exit: (code: number) => void): void {
  const command = group
    .command('approve')
    .description('show the exact command or URL of a source, approve it and read what it offers')
    .argument('<name>')
    .option('--allow-private', 'allow its URL to have a private address')
    .option('-y, --yes', 'approve it without a question')
  withRegistryOptions(command).action((name: string, flags: ApproveFlags) =>
    withRegistry(host, flags, async (registry) => {
      const shown = flags.allowPrivate
        ? await registry.invoke(sources.changeSource, { name, allowPrivate: true })
        : await registry.invoke(sources.getSource, { name })
      await approveShown(shown, { registry, host, flags, exit })
    }),
  )
}

function detailText(source: SourceDetail): string {
  const { name, state, transport, trust, approval, items, instructions, lastFailure, waiting } = source
  const changed = (source.changes ?? []).flatMap(changeLines)
  const rows = (Object.keys(items) as (keyof typeof items)[]).flatMap((kind) =>
    items[kind].map(({ name: own, tool, suspicious = [] }) => {
      const mark = suspicious.length === 0 ? '' : `  suspicious: ${suspicious.join('; ')}`
      return `  ${kind.slice(0, -1)} ${toOneLine(tool ?? own)}${mark}`
    }),
  )
  const lines = [
    `${name}: ${state}, ${transport}, ${trust}${waiting === 0 ? '' : `, ${waiting} changed definitions wait`}`,
    ...(approval === undefined ? [] : [`${source.isApproved ? 'approved' : 'not approved'}: ${approval.command}`]),
    ...(lastFailure === null ? [] : [`last failure: ${lastFailure.at} ${toOneLine(lastFailure.reason)}`]),
    ...(source.leftOut === undefined ? [] : [leftOutText(source).trim()]),
    ...(instructions === null ? [] : [`instructions: ${toOneLine(instructions).slice(0, 200)}`]),
    ...rows,
    ...changed,
  ]
  return `${lines.join('\n')}\n`
}

/** A changed definition with its differences; texts of a server are shown on one line, with hidden characters escaped. */
function changeLines({
  item,
  change,
  class: effect,
  suspicious,
  decision,
  after,
  diff,
}: ShownChange): readonly string[] {
  const marks = suspicious.map((reason) => `    suspicious: ${toOneLine(reason)}`)
  const text =
    diff === undefined && typeof after?.description === 'string' ? [`    ${toOneLine(after.description)}`] : []
  const fields = (diff?.fields ?? []).map(({ field, before, after: now }) => {
    const show = (value: unknown) => toOneLine(JSON.stringify(value)).slice(0, 2000)
    return `    ${field}: ${show(before)} -> ${show(now)}`
  })
  return [`  ${decision}: ${change} ${toOneLine(item)} (${effect})`, ...marks, ...text, ...fields]
}

type ShownChange = NonNullable<SourceDetail['changes']>[number]
