import { lookup } from 'node:dns'
import { lookup as lookupAll } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { TooldexError } from '../../base/errors.ts'

// Metadata services of clouds return credentials; their names resolve differently on each machine.
const refusedNames =
  /^(?:localhost|metadata|metadata\.google\.internal|instance-data(?:\.ec2\.internal)?)\.?$|\.localhost\.?$/i

/** Whether an IP address is a public unicast address. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.kind() === 'ipv4') return parsed.range() === 'unicast'
  const ipv6 = parsed as ipaddr.IPv6
  if (ipv6.isIPv4MappedAddress()) return isPublicAddress(ipv6.toIPv4Address().toString())
  // The deprecated ::a.b.c.d and the NAT64 prefixes embed an IPv4 address.
  const embedding = [
    [ipaddr.IPv6.parse('::'), 96],
    [ipaddr.IPv6.parse('64:ff9b::'), 96],
    [ipaddr.IPv6.parse('64:ff9b:1::'), 48],
    [ipaddr.IPv6.parse('fec0::'), 10],
  ] as const
  return ipv6.range() === 'unicast' && !embedding.some(([prefix, bits]) => ipv6.match(prefix, bits))
}

/** Rejects private hosts; names are checked again when they are resolved. */
export function checkHostAddress(hostname: string): void {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (refusedNames.test(host)) throw refused(host)
  if (ipaddr.isValid(host) && !isPublicAddress(host)) throw refused(host)
}

/** Resolves a name, so that only checked addresses are connected to; one private address among several rejects the name. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookupAll(hostname, { all: true, verbatim: true, family: options.family ?? 0 })
    .then((found) => {
      const privateAddress = found.find(({ address }) => !isPublicAddress(address))
      if (privateAddress !== undefined) throw refused(hostname)
      const [first] = found
      if (options.all === true) (callback as unknown as (error: null, all: typeof found) => void)(null, found)
      else callback(null, first?.address ?? '', first?.family ?? 4)
    })
    .catch((error: Error) => callback(error as NodeJS.ErrnoException, '', 4))
}

/** The same for every name but one, which may be private. */
export const publicLookupBut =
  (privateHost: string | undefined): LookupFunction =>
  (hostname, options, callback) =>
    hostname === privateHost ? lookup(hostname, options, callback) : publicLookup(hostname, options, callback)

const refused = (host: string): TooldexError =>
  new TooldexError('ADDRESS_REFUSED', `${host.slice(0, 200)} is not a public address.`, {
    hint: 'An administrator may allow it: allowPrivate of an http tool, or tooldex sources approve NAME --allow-private.',
  })
