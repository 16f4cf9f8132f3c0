// Why a shared store could not be used, in words: what it said, and what to do about it. Most failures of a new
// installation are a wrong name, password or certificate, which no waiting repairs.

import { StoreError } from '../errors.ts'

interface Failure {
  readonly message: string
  /** An SQLSTATE, or a code of Node. */
  readonly code?: string | undefined
  /** Of an error that the database has sent. */
  readonly severity?: string | undefined
}

const TLS_CODE = /^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/
const HELP: Readonly<Record<string, string>> = {
  '28P01':
    'see the password: in the address by a variable, in PGPASSWORD, or in the file that PGPASSFILE names',
  '28000': 'see that the role exists and may log in, and that `pg_hba.conf` lets it in from here',
  '3D000': 'create the database (`createdb -O ROLE NAME`), or correct the name in the address',
  '42501': 'let the role connect to the database, and own it: a gate creates its tables',
  '53300':
    'raise `max_connections` (a gate needs four, with agents five), or put PgBouncer in between',
  '57P03': 'wait until the database has started; a gate that runs recovers automatically',
  ENOTFOUND: 'correct the name of the host in the address',
  EAI_AGAIN: 'see that names are resolved on this machine',
}
const TLS_HELP =
  'name the file with its authority (`?sslrootcert=FILE`), or use the name of the host that is in the certificate'
const NO_TLS_HELP =
  'turn TLS on in PostgreSQL (`ssl = on`); `?sslmode=disable` only on a network that nobody else can read'
const OTHER_HELP =
  'see that PostgreSQL runs and is reachable at this address; a gate that runs recovers automatically'
/** What the library says if there is no password, in the words of its protocol. */
const NO_PASSWORD = /client password must be a string/
const NO_TLS = /does not support SSL/

/** `where`: the address without its password. */
export function toUnreachable(where: string, failure: Failure, cause?: unknown): StoreError {
  const { code = '', message, severity } = failure
  const isWithoutPassword = NO_PASSWORD.test(message)
  const isRefused = severity !== undefined || isWithoutPassword || NO_TLS.test(message)
  const why = isWithoutPassword ? 'it asks for a password, and none is given' : message
  return new StoreError(
    'STORE_UNREACHABLE',
    `the shared store ${where} ${isRefused ? 'refuses' : 'does not answer'}: ${why}`,
    toHelp(isWithoutPassword ? '28P01' : code, message),
    cause,
  )
}

/** Says what a database that answers, and does not write, gave as the reason. */
export function describeRefusal(where: string, { message }: Failure): string {
  return `the shared store ${where} refuses to write: ${message}`
}

function toHelp(code: string, message: string): string {
  if (NO_TLS.test(message)) return NO_TLS_HELP
  if (TLS_CODE.test(code)) return TLS_HELP
  return HELP[code] ?? OTHER_HELP
}
