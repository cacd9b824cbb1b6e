import { type Command, Option } from 'commander'
import type * as z from 'zod'
import { toOneLine } from '../../../../base/invisible-characters.ts'
import { LlmFormat, type Loss } from '../../../../contract/llm.ts'
import type { ReplayReport } from '../../../../contract/tool-diff.ts'
import { getForModel, listForModel } from '../../../../operations/registry/definitions.ts'
import type { getProposal } from '../../../../operations/registry/proposals.ts'
import * as proposals from '../../../../operations/registry/proposals.ts'
import * as tools from '../../../../operations/registry/tools.ts'
import * as versions from '../../../../operations/registry/versions.ts'
import { describeDiff } from '../../../../versions/describe-diff.ts'
import type { CliHost } from '../../host.ts'
import { type AddCommand, collect, parseCount, toJson } from '../command.ts'
import { operationCommands, tableText } from '../operation-command.ts'
import {
  definedOptions,
  type RegistryFlags,
  toolStateText,
  withRegistry,
  withRegistryOptions,
} from './registry-command.ts'
import { addBundleCommands } from './tool-bundles.ts'
import { addEditCommand } from './tool-editing.ts'
import { addPropose, addWriteCommands } from './tool-writing.ts'

type Add = ReturnType<typeof operationCommands>
const fields = ['idOrName']
const paging = ['--limit <n>', '--cursor <cursor>']

/** `tooldex tools ...`: registered tools. */
export const addTools: AddCommand = (program, host, exit) => {
  const group = program.command('tools')
  const add = operationCommands(group, host)
  addList(add)
  add({
    line: 'get <tool>',
    about: 'show a registered tool, or one version of it (name@3)',
    operation: tools.getTool,
    fields,
    text: toJson,
  })
  addWriteCommands(group, host, exit)
  addEditCommand(group, host)
  add({ line: 'activate <tool>', operation: tools.activateTool, fields, text: toolStateText })
  add({ line: 'deactivate <tool>', operation: tools.deactivateTool, fields, text: toolStateText })
  add({ line: 'deprecate <tool>', operation: tools.deprecateTool, fields, text: toolStateText })
  add({ line: 'reactivate <tool>', operation: tools.reactivateTool, fields, text: toolStateText })
  add({ line: 'undeprecate <tool>', operation: tools.undeprecateTool, fields, text: toolStateText })
  add({ line: 'delete <tool>', operation: tools.deleteTool, fields, text: ({ name }) => `${name} is deleted.\n` })
  addVersions(add)
  addPropose(group, host)
  addProposals(add)
  addBundleCommands(group, host)
  addDefinitions(group, host)
}

function addList(add: Add): void {
  add({
    line: 'list',
    operation: tools.listRegistered,
    options: [
      '--status <status>',
      '--category <name>',
      '--tag <tag>',
      '--executor-type <kind>',
      '--search <text>',
      '--sort <field>',
      ...paging,
      '--page <n>',
    ],
    text: tableText(
      {
        Tool: ({ name }) => name,
        Status: ({ status }) => status,
        Version: ({ version }) => version,
        Kind: ({ executorType }) => executorType,
        Description: ({ description }) => description,
      },
      'No tools are registered yet. Register one with: tooldex tools create FILE',
      'No registered tool matches the filters.',
    ),
  })
}

function addVersions(add: Add): void {
  add({
    line: 'versions <tool>',
    operation: versions.listVersions,
    fields,
    options: paging,
    text: tableText(
      {
        Version: ({ version, isLatest }) => `${version}${isLatest ? ' (latest)' : ''}`,
        Time: ({ createdAt }) => createdAt,
        Actor: ({ createdBy }) => createdBy,
        Changelog: ({ changelog }) => changelog,
      },
      'There are no further versions.',
    ),
  })
  add({
    line: 'diff <tool>',
    about: 'compare two versions and classify the changes',
    operation: versions.diffVersions,
    fields,
    options: ['--from <n>', '--to <n>'],
    text: ({ from, to, text }) => `version ${from} to ${to}: ${text}\n`,
  })
  add({
    line: 'rollback <tool> <version>',
    operation: versions.rollbackTool,
    fields,
    options: ['--changelog <text>', '--expected-version <n>'],
    text: toolStateText,
  })
}

function addProposals(add: Add): void {
  add({
    line: 'proposals <tool>',
    operation: proposals.listProposals,
    fields,
    options: paging,
    text: tableText(
      {
        Proposal: ({ id }) => id,
        Status: ({ status }) => status,
        Fields: ({ change }) => Object.keys(change).join(', '),
        Reason: ({ reason }) => reason,
      },
      'No proposals. Make one with: tooldex tools propose TOOL FILE',
    ),
  })
  const id = ['id']
  add({
    line: 'proposal <proposal>',
    about: 'show a proposal and the result of its last replay',
    operation: proposals.getProposal,
    fields: id,
    text: proposalText,
  })
  add({
    line: 'replay <proposal>',
    about: 'run recorded inputs of a read-only tool against a proposal and show the differences',
    operation: proposals.replayProposal,
    fields: id,
    options: ['--limit <n>'],
    text: replayText,
  })
  add({
    line: 'accept <proposal>',
    operation: proposals.acceptProposal,
    fields: id,
    options: ['--expected-version <n>', '--note <text>'],
    text: ({ tool }) => `Accepted: ${tool.name} has version ${tool.version}.\n`,
  })
  add({
    line: 'refuse <proposal>',
    operation: proposals.refuseProposal,
    fields: id,
    options: ['--note <text>'],
    text: () => 'Refused.\n',
  })
}

/** Formats a replay: the counts, and each input with a different output. */
function replayText({ same, differs, failed, version, runs }: ReplayReport): string {
  const counts = `${same} the same as version ${version}, ${differs} different, ${failed} failed\n`
  if (runs.length === 0) return `${counts}No successful run is recorded to compare with; call the tool first.\n`
  const lines = runs
    .filter(({ outcome }) => outcome !== 'same')
    .flatMap(({ outcome, inputData, differences, error }) => [
      `${outcome}: ${formatValue(inputData)}`,
      ...(error === null ? [] : [`    ${error.code}: ${toOneLine(error.message)}`]),
      ...differences.flatMap(({ pointer, before, after }) => [
        `    ${pointer === '' ? 'output' : pointer}`,
        ...(before === undefined ? [] : [`      - ${formatValue(before)}`]),
        ...(after === undefined ? [] : [`      + ${formatValue(after)}`]),
      ]),
    ])
  return [counts, ...lines.map((line) => `${line}\n`)].join('')
}

/** Formats a proposed change. */
function proposalText({ id, status, baseVersion, change, reason, diff, replay }: z.output<typeof getProposal.output>) {
  const lines = [
    `proposal ${id}: ${status}, made from version ${baseVersion}${reason === null ? '' : `: ${toOneLine(reason)}`}`,
    `changes ${Object.keys(change).join(', ')}${diff === undefined ? '' : ` (${diff.class})`}`,
    replay === null ? 'not replayed yet' : `replayed ${replay.at} by ${replay.by}: ${replayText(replay).trimEnd()}`,
    ...(diff === undefined ? [] : ['', describeDiff(diff)]),
  ]
  return `${lines.join('\n')}\n`
}

const formatValue = (value: unknown): string => toOneLine(JSON.stringify(value) ?? '')

interface DefinitionFlags extends RegistryFlags {
  readonly format: LlmFormat
  readonly category?: string
  readonly tag?: string[]
  readonly limit?: number
  readonly cursor?: string
  readonly deferLoading?: boolean
  readonly namespaces?: boolean
}

/** `tooldex tools definitions [TOOL]`: prints definitions for a model; losses are reported on stderr. */
function addDefinitions(group: Command, host: CliHost): void {
  const command = group
    .command('definitions [tool]')
    .description('print the definitions of offered tools in the format of a provider; losses are reported on stderr')
    .addOption(new Option('--format <format>', 'format of the provider').choices(LlmFormat.options).default('mcp'))
    .option('--category <name>', 'only tools of this category')
    .addOption(new Option('--tag <tag>', 'only tools with this tag').argParser(collect))
    .option('--limit <n>', 'maximum number of results', parseCount)
    .option('--cursor <cursor>', 'cursor of the next page')
    .option('--defer-loading', 'defer loading to the tool search of the provider, if supported')
    .option('--namespaces', 'group tools by namespace, if the provider supports it')
  withRegistryOptions(command).action((tool: string | undefined, flags: DefinitionFlags) => {
    const { format, category, tag: tags, limit, cursor, deferLoading, namespaces } = flags
    const options = { format, ...definedOptions({ deferLoading, namespaces }) }
    return withRegistry(host, flags, async (registry) => {
      if (tool !== undefined) {
        const answer = await registry.invoke(getForModel, { name: tool, ...options })
        host.out(toJson(flags.json ? answer : answer.definition))
        return flags.json ? undefined : printLosses(host, answer)
      }
      const answer = await registry.invoke(listForModel, {
        ...options,
        ...definedOptions({ category, tags, limit, cursor }),
      })
      host.out(toJson(flags.json ? answer : answer.definitions))
      if (flags.json) return
      for (const each of answer.tools) printLosses(host, each)
      if (answer.omitted > 0)
        host.err(`${answer.omitted} more: raise --limit, or continue with --cursor ${answer.nextCursor}\n`)
    })
  })
}

function printLosses(host: CliHost, { name, losses }: { name: string; losses: readonly Loss[] }): void {
  for (const { pointer, lost, why } of losses) host.err(`${name}${pointer}: ${lost} is lost, ${why}\n`)
}
