import { BlockList, isIP } from 'node:net'
import { TooldexError } from '../../base/errors.ts'

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
