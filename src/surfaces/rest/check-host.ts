import { isIP } from 'node:net'
import { TooldexError } from '../../base/errors.ts'

/** The headers for the target site and the source page of a request. */
interface SiteHeaders {
  readonly host: string
  readonly origin: string | undefined
}

/** Parses a comma-separated list of host names; `*.example.org` matches all subdomains, `*` every name. */
export function readHostList(text: string | undefined): readonly string[] {
  const names = (text ?? '').split(',').map((name) => name.trim().toLowerCase())
  const wrong = names.find((name) => !/^(?:\*|(?:\*\.)?[a-z0-9._-]*)$/.test(name))
  if (wrong === undefined) return names.filter((name) => name !== '')
  throw new TooldexError('USAGE', `TOOLDEX_ALLOWED_HOSTS has '${wrong.slice(0, 100)}', which is not a host name.`, {
    hint: 'Write names without scheme and port, with commas between them, such as tools.example.org,*.corp.example.',
  })
}

/**
 * Rejects a request for another site, or from a page of one. A name that an attacker's DNS points at this server (DNS rebinding)
 * makes a browser send its requests here; an address or localhost cannot be pointed anywhere.
 */
export function refuseForeignSite({ host, origin }: SiteHeaders, allowed: readonly string[]): void {
  const site = toUrl(`http://${host}`)
  if (site === undefined || !(isLocal(site.hostname) || isListed(site.hostname, allowed)))
    throw new TooldexError('FORBIDDEN', `The Host '${host.slice(0, 200)}' is not allowed.`, {
      hint: 'Use the IP address of the server, or add the name to its TOOLDEX_ALLOWED_HOSTS.',
    })
  if (origin === undefined) return
  const page = toUrl(origin)
  const isWeb = page?.protocol === 'http:' || page?.protocol === 'https:'
  if (isWeb && (page.host === site.host || isListed(page.hostname, allowed, false))) return
  throw new TooldexError('FORBIDDEN', `The Origin '${origin.slice(0, 200)}' is not allowed.`, {
    hint: 'Send requests from a page of the server itself, or add the host of the page to its TOOLDEX_ALLOWED_HOSTS.',
  })
}

const isLocal = (hostname: string): boolean =>
  isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0 || hostname === 'localhost' || hostname.endsWith('.localhost')

function isListed(hostname: string, allowed: readonly string[], all = allowed.includes('*')): boolean {
  if (all) return true
  return allowed.some((name) => name === hostname || (name.startsWith('*.') && hostname.endsWith(name.slice(1))))
}

function toUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}
