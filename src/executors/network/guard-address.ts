import { lookup as lookupAll } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { TooldexError } from '../../base/errors.ts'

// Names by which clouds hand out credentials; they resolve differently from machine to machine.
const refusedNames =
  /^(?:localhost|metadata|metadata\.google\.internal|instance-data(?:\.ec2\.internal)?)\.?$|\.localhost\.?$/i

/** Whether an address is one that anybody on the internet could have; everything else is somebody's own network. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.kind() === 'ipv4') return parsed.range() === 'unicast'
  const six = parsed as ipaddr.IPv6
  if (six.isIPv4MappedAddress()) return isPublic(six.toIPv4Address().toString())
  // The deprecated ::a.b.c.d, and the local kind of address translation, hide an address of the other family.
  const inside = [
    [ipaddr.IPv6.parse('::'), 96],
    [ipaddr.IPv6.parse('64:ff9b::'), 96],
    [ipaddr.IPv6.parse('64:ff9b:1::'), 48],
    [ipaddr.IPv6.parse('fec0::'), 10],
  ] as const
  return six.range() === 'unicast' && !inside.some(([prefix, bits]) => six.match(prefix, bits))
}

/** Refuses a host that is not to be asked; names are looked at again when they are resolved. */
export function checkHost(hostname: string): void {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (refusedNames.test(host)) throw refused(host)
  if (ipaddr.isValid(host) && !isPublic(host)) throw refused(host)
}

/** Resolves a name, and connects only to what was looked at: one private address among several is enough to refuse. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookupAll(hostname, { all: true, verbatim: true, family: options.family ?? 0 })
    .then((found) => {
      const bad = found.find(({ address }) => !isPublic(address))
      if (bad !== undefined) throw refused(hostname)
      const [first] = found
      if (options.all === true) (callback as unknown as (error: null, all: typeof found) => void)(null, found)
      else callback(null, first?.address ?? '', first?.family ?? 4)
    })
    .catch((error: Error) => callback(error as NodeJS.ErrnoException, '', 4))
}

const refused = (host: string): TooldexError =>
  new TooldexError('ADDRESS_REFUSED', `${host.slice(0, 200)} is not an address on the internet.`, {
    hint: 'An admin may allow private addresses for a tool with allowPrivate.',
  })
