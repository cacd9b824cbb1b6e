import { BlockList, isIP } from 'node:net'
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
export function checkHostAndOrigin({ host, origin }: SiteHeaders, allowed: readonly string[]): void {
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

/** Parses the proxies whose `X-Forwarded-For` is trusted: comma-separated addresses and networks. */
export function readTrustedProxies(text: string | undefined): BlockList {
  const trusted = new BlockList()
  for (const item of (text ?? '').split(',').map((part) => part.trim())) {
    if (item === '') continue
    const [address = '', bits, ...rest] = item.split('/')
    const kind = isIP(address)
    const maxBits = kind === 4 ? 32 : 128
    const length = bits === undefined ? maxBits : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
    if (kind === 0 || rest.length > 0 || !(length <= maxBits))
      throw new TooldexError(
        'USAGE',
        `TOOLDEX_TRUSTED_PROXIES has '${item.slice(0, 100)}', which is not an IP address or network.`,
        {
          hint: 'Write addresses and networks with commas between them, such as 10.0.0.5,192.168.0.0/16.',
        },
      )
    trusted.addSubnet(address, length, kind === 4 ? 'ipv4' : 'ipv6')
  }
  return trusted
}

/** The address of the client: that of the connection, or the one reported by trusted proxies. */
export function clientAddress(remote: string, forwardedFor: string | undefined, trusted: BlockList): string {
  const hops = [...(forwardedFor ?? '').split(',').map((hop) => hop.trim()), remote].map(plainAddress)
  for (let index = hops.length - 1; index > 0; index--) {
    const hop = hops[index] as string
    // A value that is not an address was not written by a trusted proxy.
    if (!isTrusted(hop, trusted) || isIP(hops[index - 1] as string) === 0) return hop
  }
  return hops[0] as string
}

function isTrusted(address: string, trusted: BlockList): boolean {
  const kind = isIP(address)
  return kind !== 0 && trusted.check(address, kind === 4 ? 'ipv4' : 'ipv6')
}

/** Normalizes IPv4 addresses that are written as IPv6. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')
