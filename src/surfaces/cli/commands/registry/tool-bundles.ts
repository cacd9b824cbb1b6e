import { writeFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type * as z from 'zod'
import { TooldexError } from '../../../../base/errors.ts'
import { showInvisible, toOneLine } from '../../../../base/invisible-characters.ts'
import { formatProblem } from '../../../../base/problem.ts'
import { type Bundle, bundleKinds } from '../../../../contract/bundle.ts'
import { hasErrors } from '../../../../diagnostics/finding.ts'
import { exportBundle, importBundle } from '../../../../operations/registry/bundles.ts'
import { readBundleFolder, writeBundle } from '../../../../sources/bundle/index.ts'
import type { CliHost } from '../../host.ts'
import { locateInToolFiles, readText, rejectFiles } from '../../read-tool-file.ts'
import { type AddCommand, toJson } from '../command.ts'
import { type RegistryFlags, withRegistry, withRegistryOptions } from './registry-command.ts'

/** The options of an import. */
export interface ImportFlags extends RegistryFlags {
  readonly prune?: boolean
  readonly dryRun?: boolean
}

/** `tooldex tools export` and `tooldex tools import`. */
export function addBundleCommands(group: Command, host: CliHost): void {
  const write = group
    .command('export [file]')
    .description(
      'write all tools, categories, policies, toolsets, limits and sources as one bundle, to a file or to standard output (-)',
    )
    .addOption(
      new Option('--format <format>', 'output format (default: by the name of the file, or YAML)').choices([
        'yaml',
        'json',
      ]),
    )
  withRegistryOptions(write).action(
    async (path: string | undefined, flags: RegistryFlags & { format?: 'yaml' | 'json' }) => {
      const file = path === '-' ? undefined : path
      const bundle = await withRegistry(host, flags, (registry) => registry.invoke(exportBundle, {}))
      const json = file === undefined ? flags.json : /\.json$/i.test(file)
      const text = writeBundle(bundle, flags.format ?? (json ? 'json' : 'yaml'))
      if (file === undefined) return host.out(text)
      save(file, text)
      const counts = countsOf(bundle)
      host.out(flags.json ? toJson({ file, ...counts }) : `${counts.tools} tools written to ${file}\n`)
    },
  )
  const load = group
    .command('import <file>')
    .description('import a bundle, a CLI config or a list of tools (- for standard input) in one transaction')
  withImportOptions(load).action((file: string, flags: ImportFlags) =>
    importInto(host, flags, { text: readText(file), file: file === '-' ? 'stdin' : file }),
  )
}

/** Adds the options of commands that update the registry from files. */
const withImportOptions = (command: Command): Command =>
  withRegistryOptions(command)
    .option('--prune', 'remove everything of the registry that is not in the files')
    .option('--dry-run', 'show the changes without making them')

/** Imports a bundle or its text and prints the changes. */
export async function importInto(host: CliHost, flags: ImportFlags, input: Record<string, unknown>): Promise<void> {
  const { prune = false, dryRun = false } = flags
  const answer = await withRegistry(host, flags, (registry) =>
    reportProgress(host, registry.invoke(importBundle, { ...input, prune, dryRun })),
  )
  host.out(flags.json ? toJson(answer) : bundlePlanText(answer))
}

const publishIntervalMs = 2000

/** Prints the elapsed time of a long import. */
async function reportProgress<Result>(host: CliHost, work: Promise<Result>): Promise<Result> {
  const started = Date.now()
  const timer = setInterval(
    () => host.err(`importing, ${Math.round((Date.now() - started) / 1000)} s\n`),
    publishIntervalMs,
  )
  return work.finally(() => clearInterval(timer))
}

function save(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (cause) {
    throw new TooldexError('FILE_REFUSED', `${file} cannot be written.`, { hint: 'Choose another file.', cause })
  }
}

const countsOf = ({ tools, categories, policies, toolsets, limits, sources }: Bundle) => ({
  tools: tools.length,
  categories: categories.length,
  policies: policies.length,
  toolsets: toolsets.length,
  limits: limits.length,
  sources: sources.length,
})

type Answer = z.output<typeof importBundle.output>
type Part = Omit<Answer['plan'], 'categories' | 'policies' | 'toolsets' | 'limits' | 'sources'>

/** Formats the changes of an import, one per line: + for new, ~ for changed, - for removed. */
function bundlePlanText({ plan, diffs, applied, warnings, destinations = [] }: Answer): string {
  const texts = new Map(diffs.map(({ tool, text }) => [tool, text]))
  const lines = [
    ...partLines('category', plan.categories),
    ...partLines('policy', plan.policies),
    ...partLines('toolset', plan.toolsets),
    ...partLines('limit', plan.limits),
    ...partLines('source', plan.sources),
    ...partLines('tool', plan, texts),
  ]
  const notes = warnings.map((warning) => `warning: ${showInvisible(warning)}`)
  if (lines.length === 0) return [...notes, 'Nothing to do: the registry matches the files.', ''].join('\n')
  return [...notes, ...lines, ...destinations.map(destinationText), countText(plan, applied), ''].join('\n')
}

/** A host, or the commands, and the secrets that it receives. */
function destinationText({ host, secrets, tools }: Answer['destinations'][number]): string {
  const where = host === null ? 'commands and scripts' : toOneLine(host)
  const what = secrets.length === 0 ? 'no secret' : secrets.map(toOneLine).join(', ')
  return `> ${where} (${tools} tool${tools === 1 ? '' : 's'}): ${what}`
}

function partLines(kind: string, part: Part, texts?: ReadonlyMap<string, string>): readonly string[] {
  return [
    ...part.create.map((name) => `+ ${kind} ${toOneLine(name)}`),
    ...part.change.flatMap((change) => [
      `~ ${kind} ${toOneLine(change.name)}: ${fieldsText(change)}`,
      ...indented(texts?.get(change.name)),
    ]),
    ...part.remove.map((name) => `- ${kind} ${toOneLine(name)}`),
  ]
}

/** The changed fields; the status with its old and new value. */
const fieldsText = ({ fields, status }: Part['change'][number]): string =>
  fields
    .map((field) => (field === 'status' && status !== undefined ? `status ${status.from} -> ${status.to}` : field))
    .join(', ')

const indented = (text: string | undefined): readonly string[] =>
  text === undefined ? [] : text.split('\n').map((line) => `    ${line}`)

function countText(
  { categories, policies, toolsets, limits, sources, ...tools }: Answer['plan'],
  applied: boolean,
): string {
  const parts: readonly Part[] = [tools, categories, policies, toolsets, limits, sources]
  const sum = (of: (part: Part) => number) => parts.reduce((total, part) => total + of(part), 0)
  const [created, changed] = [sum(({ create }) => create.length), sum(({ change }) => change.length)]
  const [removed, same] = [sum(({ remove }) => remove.length), sum(({ unchanged }) => unchanged)]
  const done = applied ? '' : ' (dry run: nothing was changed)'
  return `${created} new, ${changed} changed, ${removed} removed, ${same} unchanged${done}`
}

const isEmpty = (bundle: Bundle): boolean => bundleKinds.every((kind) => bundle[kind].length === 0)

/** `tooldex apply DIR`: updates the registry from the files of a folder. */
export const addApply: AddCommand = (program, host) => {
  const command = program.command('apply <folder>')
  withImportOptions(command).action(async (folder: string, flags: ImportFlags) => {
    const read = await readBundleFolder(folder)
    const { bundle, problems, place } = read
    if (hasErrors(problems)) throw await rejectFiles(folder, read, (work) => withRegistry(host, flags, work))
    for (const warning of problems) host.err(`warning: ${formatProblem(warning)}\n`)
    if (flags.prune && isEmpty(bundle))
      throw new TooldexError(
        'USAGE',
        `${folder} contains no tools, categories, policies, toolsets, limits or sources, so --prune would remove everything.`,
        {
          hint: 'Name the folder with your files, or omit --prune.',
        },
      )
    return importInto(host, flags, { bundle }).catch((thrown: unknown) => {
      throw locateInToolFiles(nameFolder(thrown, folder), place)
    })
  })
}

/** Names the folder in the error of a server that rejects a large request body. */
function nameFolder(thrown: unknown, folder: string): unknown {
  if (!(thrown instanceof TooldexError) || thrown.code !== 'TOO_LARGE') return thrown
  return new TooldexError('TOO_LARGE', `${folder} is too large for one request: ${thrown.message}`, {
    hint: thrown.hint,
  })
}
