// The file that PGPASSFILE names, as other clients of PostgreSQL read it: `host:port:database:user:password`, a line
// each, `*` for any, a backslash before a colon or a backslash. The first line that fits counts.

import { readFileSync, statSync } from 'node:fs'
import { StoreError } from '../errors.ts'
import { PASSWORD_FILE_BYTES_MAX } from '../limits.ts'

export interface PasswordPlace {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
}

/** Undefined if no line fits. */
export function readPassword(
  file: string,
  { host, port, database, user }: PasswordPlace,
): string | undefined {
  const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), database, user]
  for (const line of readPrivate(file).split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const fields = Array.from(line.matchAll(/((?:\\(?:.|$)|[^\\:])*)(?::|$)/gs), ([, field = '']) =>
      field.replace(/\\(.)/gs, '$1'),
    )
    const [password] = fields.slice(wanted.length)
    const isFit = wanted.every((value, at) => fields[at] === '*' || fields[at] === value)
    if (isFit && password !== undefined && password !== '') return password
  }
  return undefined
}

function readPrivate(file: string): string {
  try {
    const { mode, size } = statSync(file)
    if ((mode & 0o077) !== 0) throw new Error('other users may read it: chmod 600')
    if (size > PASSWORD_FILE_BYTES_MAX)
      throw new Error(`it has ${size} bytes, at most ${PASSWORD_FILE_BYTES_MAX} are read`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StoreError(
      'STORE_ADDRESS',
      `PGPASSFILE names \`${file}\`, which cannot be used: ${(error as Error).message}`,
      'name a file with lines host:port:database:user:password that only its owner may read',
    )
  }
}
