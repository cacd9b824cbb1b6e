import { callbackPath } from './sign-in.ts'

/** How Tooldex introduces itself to authorization servers: the body of a registration, and its client document. */
export const clientMetadata = (origin: string, method = 'none') => ({
  client_name: 'Tooldex',
  redirect_uris: [origin + callbackPath],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: method,
  application_type: /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)/.test(origin) ? 'native' : 'web',
})
