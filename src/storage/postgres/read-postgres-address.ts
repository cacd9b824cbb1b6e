import { readFileSync } from 'node:fs'
import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import { readSetting } from '../../rules/settings.ts'

/** One host of the database. */
export type HostAddress = { readonly path: string } | { readonly host: string; readonly port: number }

/** The TLS settings of a connection. */
export interface Tls {
  /** Whether to continue without TLS where the server does not support it. */
  readonly optional: boolean
  /** Whether the server needs a trusted certificate. */
  readonly checked: boolean
  /** Whether that certificate must match the host name. */
  readonly named: boolean
  readonly ca?: string
}

/** The parsed address of a database. */
export interface Address {
  /** In the order of connection attempts. */
  readonly places: readonly HostAddress[]
  readonly tls: Tls | undefined
  /** Whether any host is acceptable; otherwise the driver checks the role of each. */
  readonly anyPlace: boolean
  /** The URL for the driver: user, database and settings. */
  readonly rest: string
  /** A display name without a password. */
  readonly name: string
}

const ownParameters = ['host', 'port', 'ssl', 'sslmode', 'sslrootcert']
const shape = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/

/** Parses a URL as libpq does: several hosts separated by commas, `host=/folder` for a socket, `sslmode` and `sslrootcert`. */
export function readPostgresAddress(url: string, env?: Environment): Address {
  const [all, user = '', hosts = '', database = '', search = ''] = shape.exec(url) ?? []
  if (all === undefined) throw invalidUrl('is not a valid URL')
  const query = new URLSearchParams(search)
  const get = (name: string) => query.get(name) || undefined
  // The authority may consist of a port only, with the host in the query.
  const [, onlyPort] = /^:(\d+)$/.exec(hosts) ?? []
  const hostList = (onlyPort === undefined && decode(hosts)) || get('host') || readSetting('PGHOST', env) || 'localhost'
  const port = onlyPort ?? get('port') ?? readSetting('PGPORT', env) ?? '5432'
  const places = hostList.split(',').map((each) => toHostAddress(each, port))
  const tls = toTls(get('sslmode') ?? get('ssl') ?? 'disable', get('sslrootcert'))
  for (const name of ownParameters) query.delete(name)
  const anyPlace = !query.has('target_session_attrs')
  // The driver never connects by itself; it only needs the number of hosts to try.
  const placeholder = anyPlace ? 'localhost' : places.map(() => 'localhost').join(',')
  const rest = `postgres://${decode(user) === '' ? '' : `${user}@`}${placeholder}${database}?${query}`
  return { places, tls, anyPlace, rest, name: `${places.map(nameOf).join(',')}${database}` }
}

const nameOf = (place: HostAddress): string =>
  'path' in place ? place.path : `${place.host.includes(':') ? `[${place.host}]` : place.host}:${place.port}`

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalidUrl('contains a % that is not followed by two hexadecimal digits')
  }
}

function toHostAddress(text: string, defaultPort: string): HostAddress {
  const [, bracketed, plain = '', own] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  const port = Number(own ?? defaultPort)
  if (host === '' || !Number.isInteger(port) || port < 1 || port > 65_535)
    throw invalidUrl('has no valid host and port')
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
}

function toTls(mode: string, rootFile: string | undefined): Tls | undefined {
  if (mode === 'disable' || mode === 'false') return undefined
  const modes = {
    allow: { optional: true, checked: false, named: false },
    prefer: { optional: true, checked: false, named: false },
    require: { optional: false, checked: rootFile !== undefined, named: false },
    'verify-ca': { optional: false, checked: true, named: false },
    'verify-full': { optional: false, checked: true, named: true },
  }
  const tls = modes[(mode === 'true' ? 'verify-full' : mode) as keyof typeof modes]
  if (tls === undefined) throw invalidUrl(`has an sslmode that is not one of disable, ${Object.keys(modes).join(', ')}`)
  if (rootFile === undefined) return tls
  return rootFile === 'system' ? { ...tls, checked: true, named: true } : { ...tls, ca: readCertificate(rootFile) }
}

function readCertificate(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown'
    throw new TooldexError('USAGE', `The sslrootcert file of DATABASE_URL cannot be read (${reason}).`, {
      hint: 'Set sslrootcert to the file with the certificate of your certificate authority.',
      cause,
    })
  }
}

const invalidUrl = (why: string): TooldexError =>
  new TooldexError('USAGE', `DATABASE_URL ${why}.`, {
    hint: 'Write postgres://user:password@host:5432/database, with special characters percent-encoded (%XX).',
  })
