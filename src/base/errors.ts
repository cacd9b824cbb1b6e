import { type Problem, toWireProblem } from './problem.ts'

/** The rendering of one error code on every surface. */
export interface ErrorRow {
  readonly http: number
  readonly exit: number
  /** Whether the same call may succeed later without being changed. */
  readonly retry: boolean
  readonly hint: string
  /** The hint for a person at a terminal, where agents read another. */
  readonly personHint?: string
}

/** All error codes; REST, MCP, the command line and the docs render this one table. */
export const errorTable = {
  USAGE: { http: 400, exit: 2, retry: false, hint: 'Run the command with --help to see its usage.' },
  CONFIG_NOT_FOUND: { http: 404, exit: 3, retry: false, hint: 'List the bundled configs with: tooldex list' },
  CONFIG_INVALID: {
    http: 422,
    exit: 3,
    retry: false,
    hint: 'Fix the listed problems, then run: tooldex validate FILE',
  },
  POLICY_INVALID: { http: 422, exit: 3, retry: false, hint: 'Fix the listed problems in the policy file.' },
  BUNDLE_INVALID: { http: 422, exit: 3, retry: false, hint: 'Fix the listed problems; nothing was changed.' },
  TOOL_NOT_FOUND: {
    http: 404,
    exit: 4,
    retry: false,
    hint: 'Find the right name with search_tools.',
    personHint: 'Find the right name with: tooldex search',
  },
  NOT_FOUND: { http: 404, exit: 4, retry: false, hint: 'Check the name or the id.' },
  NAME_TAKEN: { http: 409, exit: 7, retry: false, hint: 'Choose another name, or update the existing one.' },
  ILLEGAL_STEP: { http: 409, exit: 7, retry: false, hint: 'Take one of the allowed steps.' },
  IN_USE: { http: 409, exit: 7, retry: false, hint: 'Move or delete the items that use it first.' },
  STALE: { http: 412, exit: 7, retry: false, hint: 'Read it again, and apply the change to its current version.' },
  TOOL_INVALID: { http: 422, exit: 2, retry: false, hint: 'Fix the listed problems.' },
  BODY_INVALID: { http: 400, exit: 2, retry: false, hint: 'Send one JSON value in UTF-8.' },
  TOO_LARGE: { http: 413, exit: 2, retry: false, hint: 'Send less data.' },
  MEDIA_TYPE: { http: 415, exit: 2, retry: false, hint: 'Send content-type: application/json.' },
  METHOD_NOT_ALLOWED: { http: 405, exit: 2, retry: false, hint: 'See /docs for the methods of this path.' },
  UNAUTHORIZED: { http: 401, exit: 6, retry: false, hint: 'Send a valid key as Authorization: Bearer KEY.' },
  KEY_REUSED: { http: 422, exit: 2, retry: false, hint: 'Use a new Idempotency-Key for another request.' },
  UNAVAILABLE: { http: 503, exit: 75, retry: true, hint: 'Try again shortly.' },
  DISK_FULL: { http: 503, exit: 74, retry: true, hint: 'Free space on the disk, then try again.' },
  HOME_UNUSABLE: {
    http: 500,
    exit: 78,
    retry: false,
    hint: 'Set TOOLDEX_HOME to a folder that this user may write, or fix this one.',
  },
  DATABASE_DAMAGED: {
    http: 500,
    exit: 78,
    retry: false,
    hint: 'Move the folder away and load a backup with: tooldex db import FILE',
  },
  DATABASE_LOCKED: {
    http: 503,
    exit: 75,
    retry: false,
    hint: 'Stop the other process, or connect to it with --server.',
  },
  MIGRATION_FAILED: {
    http: 500,
    exit: 78,
    retry: false,
    hint: 'Nothing was changed; fix the reported problem and try again.',
  },
  INPUT_INVALID: {
    http: 422,
    exit: 2,
    retry: false,
    hint: 'Compare the arguments with the input schema.',
    personHint: 'Correct the listed values; run the same command with --help to see its options.',
  },
  CURSOR_INVALID: { http: 400, exit: 2, retry: false, hint: 'Start again without a cursor.' },
  POLICY_REFUSED: { http: 403, exit: 6, retry: false, hint: 'Choose values that the policy allows.' },
  FORBIDDEN: { http: 403, exit: 6, retry: false, hint: 'Use a key with the required scope.' },
  EXECUTION_FAILED: { http: 200, exit: 1, retry: false, hint: 'Read the output of the program.' },
  EXECUTION_TIMEOUT: { http: 504, exit: 5, retry: true, hint: 'Raise the timeout, or request less.' },
  EXECUTION_CANCELLED: { http: 499, exit: 130, retry: true, hint: 'The call was cancelled before it ended.' },
  OUTPUT_LIMIT: { http: 200, exit: 1, retry: false, hint: 'Request less output, or raise --max-output.' },
  KILLED_BY_SIGNAL: { http: 200, exit: 1, retry: false, hint: 'The program was killed by the reported signal.' },
  COMMAND_NOT_FOUND: { http: 424, exit: 127, retry: false, hint: 'Install the program, or put it on PATH.' },
  PACKAGES_MISSING: {
    http: 424,
    exit: 69,
    retry: false,
    hint: 'Install the packages on the host that runs the tool: tooldex envs build PACKAGE...',
  },
  COMMAND_NOT_EXECUTABLE: { http: 424, exit: 126, retry: false, hint: 'Make the file executable.' },
  WORKING_DIR_INVALID: { http: 422, exit: 2, retry: false, hint: 'Use an existing folder.' },
  SANDBOX_MISSING: {
    http: 424,
    exit: 69,
    retry: false,
    hint: 'Install bubblewrap (on Debian: apt-get install bubblewrap), or python3 on a Linux with Landlock, and start again.',
  },
  SANDBOX_FAILED: { http: 500, exit: 70, retry: false, hint: 'Run tooldex doctor to see what the machine lacks.' },
  ARGUMENTS_TOO_LONG: { http: 413, exit: 2, retry: false, hint: 'Pass long values through an stdin argument.' },
  RESOURCES_EXHAUSTED: { http: 503, exit: 75, retry: true, hint: 'The machine is out of a resource; try later.' },
  TOO_BUSY: { http: 429, exit: 75, retry: true, hint: 'Too many calls are running or waiting; try later.' },
  LIMIT_EXCEEDED: { http: 429, exit: 75, retry: true, hint: 'Wait until the limit allows another call.' },
  OUTPUT_INVALID: { http: 200, exit: 1, retry: false, hint: 'Fix the tool, or its output schema.' },
  WORKER_LOST: { http: 200, exit: 75, retry: true, hint: 'Check whether the work was done, then call again.' },
  CALLER_LOST: { http: 200, exit: 75, retry: true, hint: 'The tool was never started; call again.' },
  QUEUE_EXPIRED: { http: 200, exit: 75, retry: true, hint: 'Start more workers, or call again later.' },
  APPROVAL_EXPIRED: { http: 200, exit: 6, retry: true, hint: 'Contact an approver, then call again.' },
  APPROVAL_REFUSED: { http: 200, exit: 6, retry: false, hint: 'Ask the approver for the reason.' },
  APPROVAL_NEEDED: { http: 202, exit: 75, retry: false, hint: 'Wait for the approval of the call.' },
  STILL_QUEUED: {
    http: 202,
    exit: 75,
    retry: false,
    hint: 'It runs as soon as a worker takes it: read the execution later, or cancel it.',
  },
  TOOL_DISABLED: { http: 409, exit: 7, retry: false, hint: 'Only active tools run; activate it, or call another.' },
  SHUTTING_DOWN: { http: 503, exit: 75, retry: true, hint: 'The server is stopping; use another, or try later.' },
  SECRET_UNAVAILABLE: {
    http: 424,
    exit: 78,
    retry: false,
    hint: 'Set the reported secret or variable, then call again.',
  },
  SIGN_IN_REQUIRED: {
    http: 424,
    exit: 78,
    retry: false,
    hint: 'Open the reported URL and sign in, then call again.',
  },
  HTTP_ERROR: { http: 200, exit: 1, retry: true, hint: 'Read the response of the service.' },
  UPSTREAM_ERROR: { http: 200, exit: 1, retry: true, hint: 'Read the response of the MCP server.' },
  INPUT_REQUIRED: {
    http: 200,
    exit: 1,
    retry: false,
    hint: 'Call the tool from an MCP client that can answer such requests, through a server that runs its tools itself.',
  },
  UPSTREAM_DOWN: { http: 503, exit: 75, retry: true, hint: 'Try again at the reported time.' },
  UPSTREAM_UNKNOWN: {
    http: 424,
    exit: 78,
    retry: false,
    hint: 'Add it to servers.json of the server, which applies changes while it runs.',
  },
  ADDRESS_REFUSED: { http: 200, exit: 6, retry: false, hint: 'Use a public internet address.' },
  FILE_REFUSED: { http: 422, exit: 3, retry: false, hint: 'Give the path of a regular file.' },
  CLIENT_CONFIG_INVALID: { http: 422, exit: 3, retry: false, hint: "Fix the client's config file first." },
  HELP_UNREADABLE: { http: 422, exit: 3, retry: false, hint: 'Save the help text and pass it with --from FILE.' },
  INTERNAL: {
    http: 500,
    exit: 70,
    retry: false,
    hint: 'The log has the cause under this id; report both.',
  },
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof errorTable

/** A rejection or failure of the platform itself, safe to show to the caller. */
export class TooldexError extends Error {
  readonly code: ErrorCode
  readonly problems: readonly Problem[]
  /** The next step, for programs and agents. */
  readonly hint: string
  /** The next step, for a person at a terminal. */
  readonly personHint: string
  /** Names that the caller may have meant. */
  readonly suggestions: readonly string[]
  /** Seconds until a retry may succeed, if known. */
  readonly retryAfter: number | undefined
  /** Of LIMIT_EXCEEDED: the limit that was reached. */
  readonly limit: ReachedLimit | undefined
  /** Of SIGN_IN_REQUIRED: the page where the caller signs in. */
  readonly url: string | undefined
  /** Of an INTERNAL error: finds its cause in the log. */
  readonly id: string | undefined
  /** Of an error response: finds the request in the log of the server. */
  readonly requestId: string | undefined

  constructor(code: ErrorCode, message: string, options: TooldexErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'TooldexError'
    this.code = code
    this.problems = options.problems ?? []
    const row: ErrorRow = errorTable[code]
    this.hint = options.hint ?? row.hint
    // An error from another process carries its hint as text only, even the standard one.
    this.personHint = options.personHint ?? (this.hint === row.hint ? row.personHint : undefined) ?? this.hint
    this.suggestions = options.suggestions ?? []
    this.retryAfter = options.retryAfter
    this.limit = options.limit
    this.url = options.url
    this.id = options.id
    this.requestId = options.requestId
  }

  /** Whether the same call may succeed later without being changed. */
  get retryable(): boolean {
    return errorTable[this.code].retry
  }

  get exitCode(): number {
    return errorTable[this.code].exit
  }
}

/** The value, unless nothing has this name or id. */
export function mustExist<Value>(
  value: Value | undefined,
  noun: string,
  idOrName: string,
  code: ErrorCode = 'NOT_FOUND',
): Value {
  if (value !== undefined) return value
  throw new TooldexError(code, `Unknown ${noun}: ${idOrName.slice(0, 200)}.`)
}

interface TooldexErrorOptions {
  readonly problems?: readonly Problem[]
  readonly hint?: string | undefined
  readonly personHint?: string
  readonly suggestions?: readonly string[]
  readonly cause?: unknown
  readonly retryAfter?: number | undefined
  readonly limit?: ReachedLimit | undefined
  readonly url?: string | undefined
  readonly id?: string | undefined
  readonly requestId?: string | undefined
}

/** A limit that was reached: its name, the measure and the maximum. */
export interface ReachedLimit {
  readonly name: string
  readonly measure: string
  readonly max: number
}

/** Converts a thrown value to an error that may leave the process: unknown ones become INTERNAL without details. */
export function toTooldexError(thrown: unknown): TooldexError {
  if (thrown instanceof TooldexError) return thrown
  if ((thrown as NodeJS.ErrnoException | undefined)?.code === 'ENOSPC')
    return new TooldexError('DISK_FULL', 'There is no space left on the disk.', { cause: thrown })
  const id = Array.from(crypto.getRandomValues(new Uint8Array(4)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
  return new TooldexError('INTERNAL', `Internal error ${id}.`, { cause: thrown, id })
}

/** An error as plain data, as `--json`, MCP and REST show it. */
export interface ErrorBody {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
  readonly retryable: boolean
  readonly errors: readonly Problem[]
  /** Of an INTERNAL error: finds its cause in the log. */
  readonly id?: string
  /** Of LIMIT_EXCEEDED: the limit that was reached, and the seconds until it allows another call. */
  readonly limit?: ReachedLimit
  readonly retryAfter?: number
  /** Of SIGN_IN_REQUIRED: the page where the caller signs in. */
  readonly url?: string
}

/** The wire format of an error. */
export function toErrorBody(error: TooldexError): ErrorBody {
  const { code, message, hint, problems, id, limit, url, retryAfter = 1 } = error
  const body = { code, message, hint, retryable: error.retryable, errors: problems.map(toWireProblem) }
  const more = { ...(id === undefined ? {} : { id }), ...(url === undefined ? {} : { url }) }
  return { ...body, ...more, ...(limit === undefined ? {} : { limit, retryAfter }) }
}
