import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import type { FunctionComponent } from 'react'
import { Shell } from './app/shell.tsx'
import { loadPage } from './pages/load-page.ts'
import { NotFoundPage } from './pages/not-found.tsx'
import { PageError } from './pages/page-error.tsx'

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFoundPage, errorComponent: PageError })

type Search = Readonly<Record<string, string>>

/** One route; its page is loaded when it is opened. */
const page = <const Path extends string, Module extends Record<string, unknown>>(
  path: Path,
  load: () => Promise<Module>,
  name: keyof Module,
) =>
  createRoute({
    getParentRoute: () => rootRoute,
    path,
    component: lazyRouteComponent(loadPage(load) as () => Promise<Record<keyof Module, FunctionComponent>>, name),
    errorComponent: PageError,
    validateSearch: (search: Record<string, unknown>): Search => search as Search,
  })

const routeTree = rootRoute.addChildren([
  page('/', () => import('./pages/home.tsx'), 'HomePage'),
  page('/catalog', () => import('./pages/catalog.tsx'), 'CatalogPage'),
  page('/tools/new', () => import('./pages/edit-tool.tsx'), 'NewToolPage'),
  page('/tools/$id/edit', () => import('./pages/edit-tool.tsx'), 'EditToolPage'),
  page('/tools/$id', () => import('./pages/tool.tsx'), 'ToolPage'),
  page('/executions', () => import('./pages/executions.tsx'), 'ExecutionsPage'),
  page('/executions/compare', () => import('./pages/compare-executions.tsx'), 'CompareExecutionsPage'),
  page('/executions/$id', () => import('./pages/execution.tsx'), 'ExecutionPage'),
  page('/sources', () => import('./pages/sources.tsx'), 'SourcesPage'),
  page('/sources/$name', () => import('./pages/source.tsx'), 'SourcePage'),
  page('/import', () => import('./pages/import.tsx'), 'ImportPage'),
  page('/search-lab', () => import('./pages/search-lab.tsx'), 'SearchLabPage'),
  page('/admin', () => import('./pages/admin.tsx'), 'AdminPage'),
  page('/design', () => import('./pages/design.tsx'), 'DesignPage'),
])

/** The query of a URL as plain strings, so that links can be read and written by hand. */
const parseSearch = (text: string): Search => Object.fromEntries(new URLSearchParams(text))

function stringifySearch(search: Record<string, unknown>): string {
  const entries = Object.entries(search).filter((entry): entry is [string, string] => {
    const [, value] = entry
    return typeof value === 'string' && value !== ''
  })
  const text = new URLSearchParams(entries).toString()
  return text === '' ? '' : `?${text}`
}

/** The pages of the console. */
export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
