import colors from 'picocolors'
import { invoke } from '../../../operations/invoke.ts'
import { callTool } from '../../../operations/runs/call-tool.ts'
import { describeTools } from '../../../operations/search/describe-tools.ts'
import { searchTools } from '../../../operations/search/search-tools.ts'
import { outcomeText } from '../../text/result-text.ts'
import { formatTable } from '../format-table.ts'
import type { CliHost } from '../host.ts'
import type { AddCommand } from './command.ts'

const queries = [
  'show what changed in the repository',
  'follow the logs of a container',
  'how many lines are in a file',
]

/** `tooldex demo`: a tour in the terminal with the bundled configs. */
export const addDemo: AddCommand = (program, host) => {
  program.command('demo', { hidden: true }).action(() => showTour(host))
}

async function showTour(host: CliHost): Promise<void> {
  const context = { ...(await host.open({ logLevel: 'ERROR' })), signal: host.signal }
  const title = (text: string) => host.out(`\n${colors.bold(text)}\n`)

  title('1. The catalog: every bundled config, loaded')
  const overview = await invoke(searchTools, { limit: 100 }, context)
  const rows = (overview.summary ?? []).map((cli) => [
    cli.name,
    String(cli.toolCount),
    cli.category ?? '',
    cli.description,
  ])
  host.out(`${formatTable(['CLI', 'Tools', 'Category', 'Description'], rows, host.columns)}\n`)

  title('2. Search: find tools by task')
  for (const query of queries) {
    const { results = [], spentTokens } = await invoke(searchTools, { query, limit: 3, level: 'line' }, context)
    host.out(`${colors.cyan(`"${query}"`)} ${colors.dim(`(${spentTokens} tokens)`)}\n`)
    for (const hit of results) host.out(`   ${hit.name.padEnd(24)} ${hit.shortDescription}\n`)
  }

  title('3. Call: run a tool')
  const call = { name: 'coreutils_echo', arguments: { message: 'hello from a tool' } }
  const { tools } = await invoke(describeTools, { ids: [call.name], level: 'summary' }, context)
  host.out(`${call.name}: ${tools[0]?.summary}\n`)
  const answer = await invoke(callTool, call, context)
  if ('outcome' in answer)
    host.out(`${colors.green(outcomeText(answer.outcome))}  ${colors.dim(`${answer.outcome.result.durationMs} ms`)}\n`)

  title('4. Next steps')
  host.out(connectText(host.selfCommand().join(' ')))
}

function connectText(self: string): string {
  const lines = [
    ['Claude Code', `${self} install claude-code git docker`],
    ['Claude Desktop', `${self} install claude-desktop git docker`],
    ['Cursor', `${self} install cursor git docker`],
    ['VS Code', `${self} install vscode git docker`],
    ['any other client', `command: ${self} run git docker`],
    ['in the terminal', `${self} call git_log --max-count 3`],
    ['your own program', `${self} import help PROGRAM --out my-program.yaml`],
  ]
  return `${lines.map(([who = '', how = '']) => `   ${who.padEnd(18)} ${how}`).join('\n')}\n`
}
