import { setFlagsFromString } from 'node:v8'

// The factor by which V8 enlarges the space of new objects, and its default.
const setGrowth = (factor: 1 | 2): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`)

/**
 * Keeps the space of new objects small until the result is called. Loading modules and unpacking a database would enlarge it to
 * 32 MB, and let as much memory outside of the heap wait for a collection; both would stay resident in an idle server.
 */
export function limitYoungGeneration(): () => void {
  setGrowth(1)
  return () => setGrowth(2)
}
