import { TooldexError } from '../../base/errors.ts'

/** A route of the app, or with the method ALL a middleware; a path parameter is `:name`. */
interface AppRoute {
  readonly method: string
  readonly path: string
}

/** The methods of a path; empty if it does not exist. */
function methodsAt(routes: readonly AppRoute[], path: string): readonly string[] {
  const methods = routes
    .filter(({ method }) => method !== 'ALL')
    .filter((route) => new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(path))
    .map(({ method }) => method)
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].sort()
}

/** The error for an unknown path or method. */
export function unknownRoute(
  routes: readonly AppRoute[],
  path: string,
): { readonly error: TooldexError; readonly allow?: string } {
  const allow = methodsAt(routes, path).join(', ')
  if (allow !== '')
    return { error: new TooldexError('METHOD_NOT_ALLOWED', `Method not allowed; this path accepts ${allow}.`), allow }
  return {
    error: new TooldexError('NOT_FOUND', 'This path does not exist.', {
      hint: 'See /docs for the available paths.',
    }),
  }
}
