import type { Problem } from '../../base/problem.ts'
import { hasErrors } from '../../documents/typed-yaml.ts'
import { BundleRefused } from './bundle-refused.ts'
import { checkTogether } from './check-references.ts'
import type { BundleFormat } from './detect-format.ts'
import { type LocatedBundle, locateBundle } from './locate-bundle.ts'
import { readBundlePart } from './read-part.ts'

/** Which file a text is from and, where it is not to be guessed, what it holds. */
export interface ReadBundleOptions {
  readonly file: string
  readonly format?: BundleFormat | undefined
}

/** What a text holds, with what is odd about it. */
export interface ReadBundle extends LocatedBundle {
  readonly format: BundleFormat
  readonly warnings: readonly Problem[]
}

/**
 * Reads tools, categories and policies from YAML or JSON: a bundle, a CLI config, or a list of tools as we, OpenAI, MCP or
 * Anthropic write it. Throws a TooldexError with every problem of the text.
 */
export function readBundle(text: string, options: ReadBundleOptions): ReadBundle {
  const part = readBundlePart(text, { ...options, check: (own) => checkTogether([own]) })
  const { bundle, place, wrong } = locateBundle([part])
  if (hasErrors(part.problems)) throw new BundleRefused(options.file, part.problems, { bundle, place, wrong })
  return { bundle, place, format: part.format, warnings: part.problems }
}
