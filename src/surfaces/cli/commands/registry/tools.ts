import { type Command, Option } from 'commander'
import { ExecutorType } from '../../../../contract/registry.ts'
import { toolSorts } from '../../../../contract/tool-list.ts'
import { ToolStatus } from '../../../../contract/tool-state.ts'
import * as tools from '../../../../operations/registry/tools.ts'
import { formatTable } from '../../format-table.ts'
import type { CliHost } from '../../host.ts'
import { type AddCommand, collect, parseCount, toJson } from '../command.ts'
import { printOperation, type RegistryFlags, toolStateText, withRegistryOptions } from './registry-command.ts'
import { addBundles } from './tool-bundles.ts'
import { addDefinitions } from './tool-definitions.ts'
import { addEditing } from './tool-editing.ts'
import { addProposals } from './tool-proposals.ts'
import { addVersions } from './tool-versions.ts'
import { addWriting } from './tool-writing.ts'

const steps = {
  activate: tools.activateTool,
  deactivate: tools.deactivateTool,
  deprecate: tools.deprecateTool,
  reactivate: tools.reactivateTool,
  undeprecate: tools.undeprecateTool,
}

const noToolsText = 'No tools are registered yet. Register one with: tooldex tools create FILE\n'

/** `tooldex tools ...`: registered tools. */
export const addTools: AddCommand = (program, host, exit) => {
  const group = program.command('tools')
  addList(group, host)
  withRegistryOptions(
    group.command('get <tool>').description('show a registered tool, or one version of it (name@3)'),
  ).action((idOrName: string, flags: RegistryFlags) =>
    printOperation(host, flags, { operation: tools.getTool, input: { idOrName }, text: toJson }),
  )
  addWriting(group, host, exit)
  addEditing(group, host)
  for (const [step, operation] of Object.entries(steps))
    withRegistryOptions(group.command(`${step} <tool>`).description(operation.summary.toLowerCase())).action(
      (idOrName: string, flags: RegistryFlags) =>
        printOperation(host, flags, { operation, input: { idOrName }, text: toolStateText }),
    )
  withRegistryOptions(group.command('delete <tool>').description('delete a tool and its versions')).action(
    (idOrName: string, flags: RegistryFlags) =>
      printOperation(host, flags, {
        operation: tools.deleteTool,
        input: { idOrName },
        text: ({ name }) => `${name} is deleted.\n`,
      }),
  )
  addVersions(group, host)
  addProposals(group, host)
  addBundles(group, host)
  addDefinitions(group, host)
}

function addList(group: Command, host: CliHost): void {
  const command = group
    .command('list')
    .description('list registered tools')
    .addOption(
      new Option('--status <status>', `only tools with this status (${ToolStatus.options.join(', ')})`).argParser(
        collect,
      ),
    )
    .option('--category <name>', 'only tools of this category and its subcategories')
    .addOption(new Option('--tag <tag>', 'only tools with this tag').argParser(collect))
    .addOption(
      new Option(
        '--executor-type <kind>',
        `only tools with this executor (${ExecutorType.options.join(', ')})`,
      ).argParser(collect),
    )
    .option('--search <text>', 'only tools with this text in the name or description')
    .addOption(new Option('--sort <field>', 'sort order').choices(toolSorts))
    .option('--limit <n>', 'maximum number of results', parseCount)
    .option('--cursor <cursor>', 'cursor of the next page')
    .option('--page <n>', 'page number, from 1', parseCount)
  withRegistryOptions(command).action((flags: RegistryFlags & Record<string, unknown>) => {
    const { server: _server, json: _json, ...input } = flags
    const isUnfiltered = Object.keys(input).length === 0
    return printOperation(host, flags, {
      operation: tools.listRegistered,
      input,
      text({ items, nextCursor, total }) {
        const rows = items.map((tool) => [
          tool.name,
          tool.status,
          String(tool.version),
          tool.executorType,
          tool.description,
        ])
        const totalText = total === undefined ? '' : `${total} in total\n`
        const more = nextCursor === undefined ? '' : `more: --cursor ${nextCursor}\n`
        if (rows.length === 0) return isUnfiltered ? noToolsText : 'No registered tool matches the filters.\n'
        return `${formatTable(['Tool', 'Status', 'Version', 'Kind', 'Description'], rows, host.columns)}\n${totalText}${more}`
      },
    })
  })
}
