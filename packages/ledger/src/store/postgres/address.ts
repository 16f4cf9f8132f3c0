// The address of a PostgreSQL database, `postgres://user@host:port/database?sslmode=...`. The connection
// is encrypted and the server's certificate checked, unless the server is on this machine or `sslmode`
// says otherwise. Read once, at start.

import { readFileSync } from 'node:fs'
import type { ClientConfig } from 'pg'
import { StoreError } from '../errors.ts'
import { CONNECT_TIMEOUT_MS } from '../limits.ts'
import { readPassword } from './password-file.ts'

/** Encrypted at least, or plain because it was asked for. `prefer` and `allow` could fall back to plain text. */
const MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const
const PARAMETERS = ['sslmode', 'sslrootcert', 'host']

/** Plain data: it is handed to other threads. */
export interface PostgresAddress extends Omit<ClientConfig, 'ssl'> {
  readonly ssl: false | TlsSettings
}

interface TlsSettings {
  readonly rejectUnauthorized: boolean
  readonly ca?: string
  /** The certificate may be for another name. */
  readonly isNameIgnored?: true
}

/** As the driver wants it. */
export function toClientConfig({ ssl, ...rest }: PostgresAddress): ClientConfig {
  if (ssl === false) return { ...rest, ssl }
  const { isNameIgnored, ...tls } = ssl
  if (isNameIgnored === undefined) return { ...rest, ssl: tls }
  return { ...rest, ssl: { ...tls, checkServerIdentity: () => undefined } }
}

function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text)
}

export function parsePostgresUrl(text: string): PostgresAddress {
  const url = URL.canParse(text) && isPostgresUrl(text) ? new URL(text) : undefined
  if (url === undefined) {
    const why = isPostgresUrl(text) ? 'it is not an address' : 'it does not begin with postgres://'
    throw wrong(why, 'write postgres://user@host:5432/database')
  }
  for (const name of url.searchParams.keys())
    if (!PARAMETERS.includes(name))
      throw wrong(
        `the parameter \`${name}\` is not known`,
        `there are ${PARAMETERS.map((each) => `\`${each}\``).join(', ')}`,
      )
  const host = url.searchParams.get('host') ?? decodePart(url.hostname)
  const database = decodePart(url.pathname.slice(1))
  if (host === '' || url.username === '' || database === '')
    throw wrong('user, host or database is missing', 'write postgres://user@host:5432/database')
  const place = {
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? 5432 : Number(url.port),
    user: decodePart(url.username),
    database,
  }
  const { PGPASSFILE: file, PGPASSWORD: given } = process.env
  const password =
    url.password === ''
      ? (given ?? (file ? readPassword(file, place) : undefined))
      : decodePart(url.password)
  return {
    ...place,
    ...(password === undefined ? {} : { password }),
    ssl: toTls(host, url.searchParams),
    application_name: 'sluice',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  }
}

/** Without the password, for logs and messages. */
export function describePostgres({ user, host, port, database }: PostgresAddress): string {
  return `postgres://${user}@${host}:${port}/${database}`
}

function toTls(host: string, parameters: URLSearchParams): PostgresAddress['ssl'] {
  const mode = parameters.get('sslmode')
  if (mode !== null && !MODES.some((each) => each === mode))
    throw wrong(`\`sslmode=${mode}\` is not supported`, `use one of ${MODES.join(', ')}`)
  if (mode === 'disable' || (mode === null && isLocal(host))) return false
  const root = parameters.get('sslrootcert')
  const ca = root === null ? {} : { ca: readAuthority(root) }
  if (mode === 'require') return { ...ca, rejectUnauthorized: false }
  if (mode === 'verify-ca') return { ...ca, rejectUnauthorized: true, isNameIgnored: true }
  return { ...ca, rejectUnauthorized: true }
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw wrong('it has a `%` without two hexadecimal digits', 'write a `%` of a password as `%25`')
  }
}

function readAuthority(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw wrong(
      `\`sslrootcert=${file}\` cannot be read: ${(error as Error).message}`,
      'name a file in PEM with the certificate of the authority',
    )
  }
}

function isLocal(host: string): boolean {
  return host.startsWith('/') || /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/.test(host)
}

function wrong(what: string, help: string): StoreError {
  return new StoreError('STORE_ADDRESS', `the address of the shared store is wrong: ${what}`, help)
}
