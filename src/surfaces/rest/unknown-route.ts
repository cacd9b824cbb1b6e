import { TooldexError } from '../../base/errors.ts'
import { apiBase, routes } from './routes.ts'

const nonApiPaths = ['/healthz', '/readyz', '/openapi.json', '/docs', '/metrics']

/** The methods of a path; empty if it does not exist. */
function methodsAt(path: string): readonly string[] {
  if (nonApiPaths.includes(path)) return ['GET', 'HEAD']
  const methods = routes
    .filter(({ http }) => new RegExp(`^${apiBase}${http.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path))
    .map(({ http }) => http.method.toUpperCase())
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].sort()
}

/** The error for an unknown path or method. */
export function unknownRoute(path: string): { readonly error: TooldexError; readonly allow?: string } {
  const allow = methodsAt(path).join(', ')
  if (allow !== '')
    return { error: new TooldexError('METHOD_NOT_ALLOWED', `Method not allowed; this path accepts ${allow}.`), allow }
  return {
    error: new TooldexError('NOT_FOUND', 'This path does not exist.', {
      hint: 'See /docs for the available paths.',
    }),
  }
}
