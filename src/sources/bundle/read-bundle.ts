import type { Problem } from '../../base/problem.ts'
import { hasErrors } from '../../documents/typed-yaml.ts'
import { BundleRefused } from './bundle-refused.ts'
import { checkTogether } from './check-references.ts'
import type { BundleFormat } from './detect-format.ts'
import { type LocatedBundle, locateBundle } from './locate-bundle.ts'
import { readBundlePart } from './read-part.ts'

/** The file of a text and, unless it is detected, its format. */
export interface ReadBundleOptions {
  readonly file: string
  readonly format?: BundleFormat | undefined
}

/** The content of a text with its warnings. */
export interface ReadBundle extends LocatedBundle {
  readonly format: BundleFormat
  readonly warnings: readonly Problem[]
}

/**
 * Reads tools, categories and policies from YAML or JSON: a bundle, a CLI config, or a list of tools in the format of Tooldex, OpenAI, MCP or
 * Anthropic. Throws a TooldexError with every problem of the text.
 */
export function readBundle(text: string, options: ReadBundleOptions): ReadBundle {
  const part = readBundlePart(text, { ...options, check: (own) => checkTogether([own]) })
  const { bundle, place, wrong } = locateBundle([part])
  if (hasErrors(part.problems)) throw new BundleRefused(options.file, part.problems, { bundle, place, wrong })
  return { bundle, place, format: part.format, warnings: part.problems }
}
