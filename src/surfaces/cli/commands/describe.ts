import { Option } from 'commander'
import { TooldexError } from '../../../base/errors.ts'
import { showInvisible } from '../../../base/invisible-characters.ts'
import { describeTools } from '../../../operations/search/describe-tools.ts'
import { exampleText, readinessText } from '../../text/result-text.ts'
import { type AddCommand, type ToolOptions, toJson, withToolOptions } from './command.ts'
import { queryTools, withServerOption } from './query-server.ts'

interface DescribeFlags extends ToolOptions {
  readonly level: string
  readonly format: string
  readonly server?: string
}

/** `tooldex describe TOOL...`: prints descriptions, schemas and examples. */
export const addDescribe: AddCommand = (program, host) => {
  const command = program
    .command('describe')
    .argument('<tool...>', 'names or ids of tools')
    .addOption(new Option('--level <level>', 'amount of detail').choices(['summary', 'schema', 'full']).default('full'))
    .addOption(new Option('--format <format>', 'form of the schemas').choices(['json', 'typescript']).default('json'))
  withServerOption(withToolOptions(command)).action(async (ids: string[], flags: DescribeFlags) => {
    const input = { ids, level: flags.level, format: flags.format }
    const answer = await queryTools(host, flags, { operation: describeTools, input, combined: true })
    if (flags.json) return host.out(toJson(answer))
    const texts = answer.tools.map((doc) => {
      const labels = [doc.category ?? '', ...doc.tags].filter((label) => label !== '').join(', ')
      const lines = [
        `${doc.name}  (${doc.id}${labels === '' ? '' : `; ${labels}`})`,
        doc.typescript ?? doc.tool?.description ?? doc.summary,
      ]
      if (doc.tool !== undefined) lines.push(JSON.stringify(doc.tool.inputSchema, null, 2))
      if (doc.exampleRequests?.length) lines.push(`For example: ${doc.exampleRequests.join(' | ')}`)
      lines.push(...(doc.examples ?? []).map(exampleText))
      if (doc.notes !== undefined) lines.push(doc.notes)
      if (doc.readiness !== undefined) lines.push(`(${readinessText(doc.readiness)})`)
      if (doc.externalRefs?.length) lines.push(`See ${doc.externalRefs.join(', ')}`)
      return lines.join('\n')
    })
    host.out(`${showInvisible(texts.join('\n\n'))}\n`)
    for (const { message, hint } of answer.unknown ?? []) {
      const { personHint } = new TooldexError('TOOL_NOT_FOUND', message, { hint })
      host.err(`${showInvisible(`${message} ${personHint}`)}\n`)
    }
  })
}
