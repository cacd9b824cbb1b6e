import { readFileSync } from 'node:fs'
import { TooldexError } from '../../base/errors.ts'

/** One server that may have the database. */
export type HostAddress = { readonly path: string } | { readonly host: string; readonly port: number }

/** How a connection is kept from others. */
export interface Tls {
  /** Whether to go on without where the server has none. */
  readonly optional: boolean
  /** Whether the server must show a certificate that we trust. */
  readonly checked: boolean
  /** Whether that certificate must be for the host we asked for. */
  readonly named: boolean
  readonly ca?: string
}

/** Where a database is. */
export interface Address {
  /** To be tried in this order. */
  readonly places: readonly HostAddress[]
  readonly tls: Tls | undefined
  /** Whether any of the places will do; else the driver asks each what it is. */
  readonly anyPlace: boolean
  /** What is left for the driver: who asks, for which database, with which settings. */
  readonly rest: string
  /** What to call it, without a password. */
  readonly name: string
}

const ours = ['host', 'port', 'ssl', 'sslmode', 'sslrootcert']
const shape = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/

/** Reads a URL as libpq does: several hosts with commas between them, `host=/folder` for a socket, `sslmode` and `sslrootcert`. */
export function readAddress(url: string, env: NodeJS.ProcessEnv = process.env): Address {
  const [all, user = '', hosts = '', database = '', search = ''] = shape.exec(url) ?? []
  if (all === undefined) throw unreadable('cannot be read')
  const query = new URLSearchParams(search)
  const get = (name: string) => query.get(name) || undefined
  // A port may stand before the path alone, with the host behind the question mark.
  const [, onlyPort] = /^:(\d+)$/.exec(hosts) ?? []
  const given = (onlyPort === undefined && decode(hosts)) || get('host') || env.PGHOST || 'localhost'
  const port = onlyPort ?? get('port') ?? env.PGPORT ?? '5432'
  const places = given.split(',').map((each) => toPlace(each, port))
  const tls = toTls(get('sslmode') ?? get('ssl') ?? 'disable', get('sslrootcert'))
  for (const name of ours) query.delete(name)
  const anyPlace = !query.has('target_session_attrs')
  // The driver never connects by itself; it only has to know whether there is another place to try.
  const shown = anyPlace ? 'localhost' : places.map(() => 'localhost').join(',')
  const rest = `postgres://${decode(user) === '' ? '' : `${user}@`}${shown}${database}?${query}`
  return { places, tls, anyPlace, rest, name: `${places.map(nameOf).join(',')}${database}` }
}

const nameOf = (place: HostAddress): string =>
  'path' in place ? place.path : `${place.host.includes(':') ? `[${place.host}]` : place.host}:${place.port}`

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw unreadable('has a % that is not followed by two digits')
  }
}

function toPlace(text: string, defaultPort: string): HostAddress {
  const [, bracketed, plain = '', own] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  const port = Number(own ?? defaultPort)
  if (host === '' || !Number.isInteger(port) || port < 1 || port > 65_535) throw unreadable('names no host and port')
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
}

function toTls(mode: string, rootFile: string | undefined): Tls | undefined {
  if (mode === 'disable' || mode === 'false') return undefined
  const known = {
    allow: { optional: true, checked: false, named: false },
    prefer: { optional: true, checked: false, named: false },
    require: { optional: false, checked: rootFile !== undefined, named: false },
    'verify-ca': { optional: false, checked: true, named: false },
    'verify-full': { optional: false, checked: true, named: true },
  }
  const tls = known[(mode === 'true' ? 'verify-full' : mode) as keyof typeof known]
  if (tls === undefined) throw unreadable(`has an sslmode that is not one of disable, ${Object.keys(known).join(', ')}`)
  if (rootFile === undefined) return tls
  return rootFile === 'system' ? { ...tls, checked: true, named: true } : { ...tls, ca: readCertificate(rootFile) }
}

function readCertificate(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown'
    throw new TooldexError('USAGE', `The file that sslrootcert names in DATABASE_URL cannot be read (${reason}).`, {
      hint: 'Name the file with the certificate of your certificate authority.',
      cause,
    })
  }
}

const unreadable = (why: string): TooldexError =>
  new TooldexError('USAGE', `DATABASE_URL ${why}.`, {
    hint: 'Write postgres://user:password@host:5432/database, with %XX for odd characters.',
  })
