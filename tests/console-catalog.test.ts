import { it } from 'vitest'
import { tryLargeCatalog } from './soak/large-catalog.ts'
import { noBrowser } from './support/open-browser.ts'

// tests/long/console-catalog.test.ts does it with 100,000.
it.skipIf(noBrowser !== '')(
  `the console scrolls and searches 3,000 tools of a server${noBrowser}`,
  () => tryLargeCatalog(3000),
  600_000,
)
