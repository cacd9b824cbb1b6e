import { it } from 'vitest'
import { tryLargeCatalog } from '../soak/large-catalog.ts'
import { noBrowser } from '../support/open-browser.ts'

const total = Number(process.env.TOOLDEX_CATALOG_TOOLS ?? 100_000)

it.skipIf(noBrowser !== '')(
  `the console scrolls and searches ${total} tools of a server${noBrowser}`,
  () => tryLargeCatalog(total),
  1_800_000,
)
