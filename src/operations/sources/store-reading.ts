import type { Logger } from '../../base/logger.ts'
import type { SourceManifest } from '../../contract/source.ts'
import { changePlanned, type PlannedParts } from './change-planned.ts'
import { planReading } from './plan-reading.ts'

/** Stores what a server offers, as far as the trust rule allows; what waits for a decision is logged. */
export async function storeReading(
  { logger, ...parts }: PlannedParts & { readonly logger: Logger },
  name: string,
  manifest: SourceManifest,
): Promise<void> {
  const { waiting } = await changePlanned(parts, name, (source) => planReading(source, manifest, parts.signal))
  if (waiting > 0) logger.warn('definitions of a source changed and wait for a decision', { source: name, waiting })
}
