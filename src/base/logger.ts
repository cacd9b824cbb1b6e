import { createWriteStream, type WriteStream } from 'node:fs'
import { type TooldexError, toTooldexError } from './errors.ts'
import { toOneLine } from './invisible-characters.ts'

export const logLevels = ['DEBUG', 'INFO', 'WARNING', 'ERROR'] as const
export type LogLevel = (typeof logLevels)[number]

/** Writes log lines for operators, never to stdout, which may be a protocol stream. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Whether lines of a level are written anywhere; for fields that are expensive to compute. */
  enabled?(level: LogLevel): boolean
}

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

/** Lines at or above `level` go to stderr; everything, from DEBUG up, goes to `file` if set. */
export interface LoggerOptions {
  readonly level: LogLevel
  readonly file?: string | undefined
  readonly stderr?: (line: string) => void
}

/** A logger of one line per event: `time LEVEL message key=value`, control characters escaped. */
export function createLogger(options: LoggerOptions): Logger {
  const threshold = logLevels.indexOf(options.level)
  const file = openLogFile(options.file)
  const stderr = options.stderr ?? ((line: string) => void process.stderr.write(line))
  const write = (level: LogLevel, message: string, fields: LogFields = {}): void => {
    const loud = logLevels.indexOf(level) >= threshold
    if (!loud && file === undefined) return
    const line = formatLine(level, message, fields)
    if (loud) stderr(`${line}\n`)
    file?.write(`${line}\n`)
  }
  return {
    enabled: (level) => file !== undefined || logLevels.indexOf(level) >= threshold,
    debug: (message, fields) => write('DEBUG', message, fields),
    info: (message, fields) => write('INFO', message, fields),
    warn: (message, fields) => write('WARNING', message, fields),
    error: (message, fields) => write('ERROR', message, fields),
  }
}

/** A logger that discards everything. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** Converts a thrown value to a TooldexError; the cause of an INTERNAL one is logged under its id. */
export function toLoggedError(logger: Logger, thrown: unknown, fields: LogFields = {}): TooldexError {
  const error = toTooldexError(thrown)
  const { code, cause, id } = error
  if (code === 'INTERNAL') logger.error(String((cause as Error | undefined)?.stack ?? cause), { ...fields, id })
  return error
}

function formatLine(level: LogLevel, message: string, fields: LogFields): string {
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${typeof value === 'string' ? JSON.stringify(toOneLine(value)) : value}`)
  return `${new Date().toISOString()} ${level} ${toOneLine(message)}${pairs.join('')}`
}

function openLogFile(path: string | undefined): WriteStream | undefined {
  if (path === undefined || path === '') return undefined
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 })
  // A full disk or a missing folder must not end a process that only writes a log line.
  stream.on('error', (error) => {
    process.stderr.write(`tooldex: cannot write the log file ${toOneLine(path)}: ${error.message}\n`)
    stream.destroy()
  })
  return stream
}
