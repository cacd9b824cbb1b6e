import type { DraftTool } from './draft.ts'

const reads =
  /^(?:lists?|shows?|prints?|displays?|gets?|views?|describes?|search(?:es)?|finds?|counts?|compares?|inspects?|reports?)\b/i
const destroys = /^(?:deletes?|removes?|destroys?|purges?|erases?|wipes?|drops?|prunes?|uninstalls?)\b/i

/** The annotations that the first word of a description shows; none where it shows nothing. */
export function guessAnnotations({
  description,
}: Pick<DraftTool, 'description'>): Readonly<Record<string, boolean>> | undefined {
  if (destroys.test(description)) return { destructive: true }
  return reads.test(description) ? { read_only: true } : undefined
}
