import { Option } from 'commander'
import { showInvisible } from '../../../base/visible-text.ts'
import { describeTools } from '../../../operations/describe-tools.ts'
import { invoke } from '../../../operations/invoke.ts'
import { nameCommands } from '../name-commands.ts'
import { type AddCommand, type ToolOptions, toJson, toOpenOptions, withToolOptions } from './command.ts'

/** `tooldex describe TOOL...`: what one reads about tools before calling them. */
export const addDescribe: AddCommand = (program, host) => {
  const command = program
    .command('describe')
    .description('read about tools: what they do and how to call them')
    .argument('<tool...>', 'names or ids of tools')
    .addOption(new Option('--level <level>', 'how much').choices(['summary', 'schema', 'full']).default('full'))
  withToolOptions(command).action(async (ids: string[], flags: ToolOptions & { level: string }) => {
    const answer = await invoke(describeTools, { ids, level: flags.level }, host.open(toOpenOptions(flags)))
    if (flags.json) return host.out(toJson(answer))
    const texts = answer.tools.map((doc) => {
      const labels = [doc.category ?? '', ...doc.tags].filter((label) => label !== '').join(', ')
      const lines = [
        `${doc.name}  (${doc.id}${labels === '' ? '' : `; ${labels}`})`,
        doc.tool?.description ?? doc.summary,
      ]
      if (doc.tool !== undefined) lines.push(JSON.stringify(doc.tool.inputSchema, null, 2))
      if (doc.exampleRequests?.length) lines.push(`For example: ${doc.exampleRequests.join(' | ')}`)
      if (doc.notes !== undefined) lines.push(doc.notes)
      return lines.join('\n')
    })
    host.out(`${showInvisible(texts.join('\n\n'))}\n`)
    for (const { message, hint } of answer.unknown ?? [])
      host.err(`${showInvisible(`${message} ${nameCommands(hint)}`)}\n`)
  })
}
