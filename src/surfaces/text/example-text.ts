import type { ToolExample } from '../../contract/tool-doc.ts'

/** An example on one line: `Title - description: {"arguments":1} -> result`. */
export function exampleText({ title, description, args, resultHint }: ToolExample): string {
  const call = args === undefined ? '' : `: ${JSON.stringify(args)}`
  const result = resultHint === undefined ? '' : ` -> ${resultHint}`
  return `${title === undefined ? '' : `${title} - `}${description}${call}${result}`
}
