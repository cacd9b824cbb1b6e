/** A browser with cookies, which follows redirects; pages of `own` are answered by a function instead of the network. */
export function signInBrowser(own: {
  readonly origin: string
  readonly request: (url: string, init: RequestInit) => Response | Promise<Response>
}) {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (url: string) => {
    const { origin } = new URL(url)
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    return jar
  }
  const send = async (
    url: string,
    init: RequestInit & { headers?: Record<string, string> } = {},
  ): Promise<Response> => {
    const jar = jarOf(url)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...init.headers, ...(cookie === '' ? {} : { cookie }) }
    const all = { ...init, headers, redirect: 'manual' as const }
    const response = url.startsWith(`${own.origin}/`) ? await own.request(url, all) : await fetch(url, all)
    for (const each of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }
  /** Follows redirects until a page, or the first URL that begins with `until`. */
  const follow = async (
    url: string,
    account: string,
    until?: string,
  ): Promise<{ url: string; response?: Response }> => {
    let next = url
    for (let hop = 0; hop < 15; hop++) {
      if (until !== undefined && next.startsWith(until)) return { url: next }
      const response = await send(next, { headers: { 'x-account': account } })
      const location = response.headers.get('location')
      if (location === null) return { url: next, response }
      next = new URL(location, next).href
    }
    throw new Error(`too many redirects: ${next}`)
  }
  /** Confirms the page of a link; returns the URL at the authorization server. */
  const confirm = async (
    link: string,
    origin = own.origin,
  ): Promise<{ status: number; location: string; text: string }> => {
    const response = await send(link, { method: 'POST', headers: { origin } })
    return { status: response.status, location: response.headers.get('location') ?? '', text: await response.text() }
  }
  /** Signs in with an account from the link to the last page; `until` stops before a URL. */
  const signIn = async (link: string, account: string, until?: string, origin?: string) => {
    const { location, text } = await confirm(link, origin)
    if (location === '') return { url: link, text }
    const { url, response } = await follow(location, account, until)
    return { url, text: (await response?.text()) ?? '', status: response?.status }
  }
  return { send, follow, confirm, signIn }
}
