import { TooldexError } from '../../base/errors.ts'
import { apiBase, routes } from './routes.ts'

const outside = ['/healthz', '/readyz', '/openapi.json', '/docs', '/metrics']

/** What an address takes, or nothing where there is none. */
function methodsAt(path: string): readonly string[] {
  if (outside.includes(path)) return ['GET', 'HEAD']
  const methods = routes
    .filter(({ http }) => new RegExp(`^${apiBase}${http.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path))
    .map(({ http }) => http.method.toUpperCase())
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].sort()
}

/** Why a request found nothing: no such address, or not in this way. */
export function unknownRoute(path: string): { readonly error: TooldexError; readonly allow?: string } {
  const allow = methodsAt(path).join(', ')
  if (allow !== '') return { error: new TooldexError('METHOD_NOT_ALLOWED', `This address takes ${allow}.`), allow }
  return {
    error: new TooldexError('NOT_FOUND', 'There is nothing at this address.', {
      hint: 'See /docs for what there is.',
    }),
  }
}
