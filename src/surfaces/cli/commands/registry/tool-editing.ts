import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { TooldexError, toTooldexError } from '../../../../base/errors.ts'
import { type RegisteredTool, registryLimits } from '../../../../contract/registry.ts'
import { readTextFile } from '../../../../documents/read-text-file.ts'
import { getCategory } from '../../../../operations/registry/categories.ts'
import { changeTool, getTool } from '../../../../operations/registry/tools.ts'
import { EditedTool, setFields } from '../../edited-tool.ts'
import type { CliHost } from '../../host.ts'
import { reportError } from '../../report-error.ts'
import { collect, parseCount, toJson } from '../command.ts'
import { definedOptions, printWarnings, toolStateText, withRegistry, withRegistryOptions } from './registry-command.ts'
import { type WriteFlags, withCategory, writeTool } from './tool-writing.ts'

interface Editing {
  readonly tool: RegisteredTool
  readonly edited: EditedTool
}

interface EditFlags extends WriteFlags {
  readonly set?: readonly string[]
}

/** `tooldex tools edit`: changes a tool by a file, by --set, or in an editor. */
export function addEditing(group: Command, host: CliHost): void {
  const edit = group
    .command('edit <tool> [file]')
    .description('change a tool by a YAML or JSON file (- for standard input), by --set, or in your editor')
    .option('--set <field=value>', 'set a field, or a part of it by a dotted path; may be repeated', collect)
    .option('--changelog <text>', 'description of the change')
    .option('--script <file>', 'file with the script of the tool')
    .option('--expected-version <n>', 'fail unless the tool still has this version', parseCount)
  withRegistryOptions(edit).action((idOrName: string, file: string | undefined, flags: EditFlags) => {
    const { set, script } = flags
    if (file !== undefined && set !== undefined)
      throw new TooldexError('USAGE', 'Use either a file or --set, not both.', { hint: 'Omit one of them.' })
    if (file !== undefined) return editByFile(host, flags, { idOrName, file })
    if (set !== undefined || script !== undefined) return editByFields(host, flags, idOrName)
    return editInEditor(host, flags, idOrName)
  })
}

const changeOptions = ({ changelog, expectedVersion }: WriteFlags) => definedOptions({ changelog, expectedVersion })

function editByFile(host: CliHost, flags: EditFlags, { idOrName, file }: { idOrName: string; file: string }) {
  const input = ({ changelog, ...fields }: Readonly<Record<string, unknown>>) => ({
    ...fields,
    ...definedOptions({ changelog: changelog ?? undefined }),
    idOrName,
    ...changeOptions(flags),
  })
  return writeTool(host, flags, { file, operation: changeTool, input, text: toolStateText })
}

async function editByFields(host: CliHost, flags: EditFlags, idOrName: string): Promise<void> {
  const answer = await withRegistry(host, flags, async (registry) => {
    const tool = await registry.invoke(getTool, { idOrName })
    const script =
      flags.script === undefined ? {} : { scriptContent: readTextFile(flags.script, 4 * registryLimits.script) }
    const fields = await withCategory(registry, { ...setFields(flags.set ?? [], tool), ...script })
    const input = { expectedVersion: tool.version, ...fields, idOrName, ...changeOptions(flags) }
    return registry.invoke(changeTool, input)
  })
  host.out(flags.json ? toJson(answer) : toolStateText(answer))
  printWarnings(host, answer)
}

/** The registry is closed while the editor is open; the version detects concurrent changes. */
async function editInEditor(host: CliHost, flags: EditFlags, idOrName: string): Promise<void> {
  const { tool, category } = await withRegistry(host, flags, async (registry) => {
    const tool = await registry.invoke(getTool, { idOrName })
    const { categoryId } = tool
    const category = categoryId === null ? null : (await registry.invoke(getCategory, { idOrName: categoryId })).name
    return { tool, category }
  })
  const edited = new EditedTool(tool, category)
  for (let isDone = false; !isDone; ) {
    await host.edit(edited.file).catch((thrown: unknown) => {
      edited.remove()
      throw thrown
    })
    isDone = await applyChanges(host, flags, { tool, edited }).catch((thrown) =>
      retryOrLeave(host, thrown, { tool, edited }),
    )
  }
  edited.remove()
}

/** Applies the changes in the file. */
async function applyChanges(host: CliHost, flags: EditFlags, { tool, edited }: Editing): Promise<true> {
  const changed = edited.changes()
  if (changed.size === 0) host.out(flags.json ? toJson(tool) : 'Nothing changed.\n')
  else {
    const about = { idOrName: tool.id, expectedVersion: tool.version, ...changeOptions(flags) }
    const input = (fields: object) => ({
      ...Object.fromEntries(Object.entries(fields).filter(([key]) => changed.has(key))),
      ...about,
    })
    await writeTool(host, flags, { file: edited.file, operation: changeTool, input, text: toolStateText })
  }
  return true
}

/** Keeps rejected text: the user edits it again, or the file stays for later. */
async function retryOrLeave(host: CliHost, thrown: unknown, { tool, edited: { file } }: Editing): Promise<false> {
  const error = toTooldexError(thrown)
  if (!host.interactive || error.problems.length === 0) {
    const hint = `Your text is kept: fix ${file}, then run: tooldex tools edit ${tool.name} ${file}`
    throw new TooldexError(error.code, error.message, { hint, problems: error.problems, cause: thrown })
  }
  reportError(error, host, { json: false })
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  try {
    await prompt.question(`Press Enter to fix it, Ctrl+C to stop (kept in ${file}) `, { signal: host.signal })
  } finally {
    prompt.close()
  }
  return false
}
