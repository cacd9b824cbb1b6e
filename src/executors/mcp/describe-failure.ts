import { TooldexError } from '../../base/errors.ts'
import { withoutPeriod } from '../../base/sentences.ts'
import { toOneLine } from '../../base/visible-text.ts'

const longest = 500

/** What went wrong with a server, to stand after its name; texts of others are cut and on one line. */
export function describeFailure(error: unknown): string {
  if (error instanceof TooldexError) return `could not be asked: ${withoutPeriod(error.message)}`
  const ours = causesOf(error).find((each) => each instanceof TooldexError)
  if (ours instanceof TooldexError) return `could not be asked: ${withoutPeriod(ours.message)}`
  const { data, message = 'no answer' } = error as { data?: { status?: number }; message?: string }
  if (data?.status !== undefined) return `answered with HTTP ${data.status}`
  const code = causesOf(error).map((each) => (each as NodeJS.ErrnoException).code)
  const system = code.find((each) => typeof each === 'string' && /^(E[A-Z]+|UND_ERR_\w+|CERT_\w+)$/.test(each))
  if (system !== undefined) return `could not be reached (${system})`
  return `could not be asked: ${cut(message)}`
}

/** A text of a server, short and on one line. */
export function cut(text: string): string {
  const line = toOneLine(text.slice(0, longest * 2))
  return line.length > longest ? `${line.slice(0, longest)}…` : line
}

/** An error and what it came from. */
export function causesOf(error: unknown): readonly unknown[] {
  const all: unknown[] = []
  for (let each = error; each instanceof Error && all.length < 5; each = each.cause) all.push(each)
  return all
}
