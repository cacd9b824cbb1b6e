import type { Logger } from '../../base/logger.ts'
import type { SourceManifest } from '../../contract/source.ts'
import { changePlanned, type PlannedParts } from './change-planned.ts'
import { planReading } from './plan-reading.ts'

/** The limits of `read-items.ts`. */
export const leftOutReason = 'beyond 10,000 of a kind, 1 MiB each or 4 MiB in all, or without a name'

/** Stores what a server offers, as far as the trust rule allows; what waits for a decision is logged. */
export async function storeReading(
  { logger, ...parts }: PlannedParts & { readonly logger: Logger },
  name: string,
  manifest: SourceManifest,
): Promise<void> {
  const { waiting } = await changePlanned(parts, name, (source) => planReading(source, manifest, parts.signal))
  if (manifest.leftOut !== undefined)
    logger.warn(`definitions of a source were left out: ${leftOutReason}`, { source: name, leftOut: manifest.leftOut })
  if (waiting > 0) logger.warn('definitions of a source changed and wait for a decision', { source: name, waiting })
}
