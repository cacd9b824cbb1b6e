import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { TooldexError, toTooldexError } from '../../../../base/errors.ts'
import { type RegisteredTool, registryLimits } from '../../../../contract/registry.ts'
import { readTextFile } from '../../../../documents/read-text-file.ts'
import { getCategory } from '../../../../operations/registry/categories.ts'
import { changeTool, getTool } from '../../../../operations/registry/tools.ts'
import { EditedTool } from '../../edited-tool.ts'
import type { CliHost } from '../../host.ts'
import { reportError } from '../../report-error.ts'
import { setFields } from '../../set-fields.ts'
import { collect, parseCount, toJson } from '../command.ts'
import { given, said, withRegistry, withRegistryOptions } from './registry-command.ts'
import { printWarnings, type WriteFlags, withCategory, writeTool } from './tool-writing.ts'

interface Editing {
  readonly tool: RegisteredTool
  readonly edited: EditedTool
}

interface EditFlags extends WriteFlags {
  readonly set?: readonly string[]
}

/** `tooldex tools edit`: by a file, by fields in the command, or in an editor. */
export function addEditing(group: Command, host: CliHost): void {
  const edit = group
    .command('edit <tool> [file]')
    .description(
      'change a tool: by the fields in a YAML or JSON file (- for standard input), by --set, or in your editor',
    )
    .option('--set <field=value>', 'change this field, or with dots a part of it; may be repeated', collect)
    .option('--changelog <text>', 'what to say about it')
    .option('--script <file>', 'the script of the tool')
    .option('--expected-version <n>', 'only if it still has this version', parseCount)
  withRegistryOptions(edit).action((idOrName: string, file: string | undefined, flags: EditFlags) => {
    const { set, script } = flags
    if (file !== undefined && set !== undefined)
      throw new TooldexError('USAGE', 'A file and --set both say what to change.', { hint: 'Give one of them.' })
    if (file !== undefined) return editByFile(host, flags, { idOrName, file })
    if (set !== undefined || script !== undefined) return editByFields(host, flags, idOrName)
    return editInEditor(host, flags, idOrName)
  })
}

const aboutChange = ({ changelog, expectedVersion }: WriteFlags) => given({ changelog, expectedVersion })

function editByFile(host: CliHost, flags: EditFlags, { idOrName, file }: { idOrName: string; file: string }) {
  const input = ({ changelog, ...fields }: Readonly<Record<string, unknown>>) => ({
    ...fields,
    ...given({ changelog: changelog ?? undefined }),
    idOrName,
    ...aboutChange(flags),
  })
  return writeTool(host, flags, { file, operation: changeTool, input, text: said })
}

async function editByFields(host: CliHost, flags: EditFlags, idOrName: string): Promise<void> {
  const answer = await withRegistry(host, flags, async (registry) => {
    const tool = await registry.invoke(getTool, { idOrName })
    const script =
      flags.script === undefined ? {} : { scriptContent: readTextFile(flags.script, 4 * registryLimits.script) }
    const fields = await withCategory(registry, { ...setFields(flags.set ?? [], tool), ...script })
    const input = { expectedVersion: tool.version, ...fields, idOrName, ...aboutChange(flags) }
    return registry.invoke(changeTool, input)
  })
  host.out(flags.json ? toJson(answer) : said(answer))
  printWarnings(host, answer)
}

/** The registry is not held while a person thinks; whether somebody else changed the tool meanwhile is told by its version. */
async function editInEditor(host: CliHost, flags: EditFlags, idOrName: string): Promise<void> {
  const { tool, category } = await withRegistry(host, flags, async (registry) => {
    const tool = await registry.invoke(getTool, { idOrName })
    const { categoryId } = tool
    const category = categoryId === null ? null : (await registry.invoke(getCategory, { idOrName: categoryId })).name
    return { tool, category }
  })
  const edited = new EditedTool(tool, category)
  for (let isMended = false; !isMended; ) {
    await host.edit(edited.file).catch((thrown: unknown) => {
      edited.remove()
      throw thrown
    })
    isMended = await takeOver(host, flags, { tool, edited }).catch((thrown) =>
      mendOrLeave(host, thrown, { tool, edited }),
    )
  }
  edited.remove()
}

/** Makes the change that the file says. */
async function takeOver(host: CliHost, flags: EditFlags, { tool, edited }: Editing): Promise<true> {
  const changed = edited.changes()
  if (changed.size === 0) host.out(flags.json ? toJson(tool) : 'nothing changed\n')
  else {
    const about = { idOrName: tool.id, expectedVersion: tool.version, ...aboutChange(flags) }
    const input = (fields: object) => ({
      ...Object.fromEntries(Object.entries(fields).filter(([key]) => changed.has(key))),
      ...about,
    })
    await writeTool(host, flags, { file: edited.file, operation: changeTool, input, text: said })
  }
  return true
}

/** What a person wrote is not lost: it is mended, or kept for them to come back to. */
async function mendOrLeave(host: CliHost, thrown: unknown, { tool, edited: { file } }: Editing): Promise<false> {
  const error = toTooldexError(thrown)
  if (!host.interactive || error.problems.length === 0) {
    const hint = `Your text is kept: mend ${file}, then run: tooldex tools edit ${tool.name} ${file}`
    throw new TooldexError(error.code, error.message, { hint, problems: error.problems, cause: thrown })
  }
  reportError(error, host, { json: false })
  const asked = createInterface({ input: process.stdin, output: process.stderr })
  try {
    await asked.question(`Press Enter to mend it, Ctrl+C to leave it (kept in ${file}) `, { signal: host.signal })
  } finally {
    asked.close()
  }
  return false
}
