// Where the socket of a data directory is: for the gate that listens there, and for commands, which
// must not have to load the gate to find it.

import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PATH_BYTES_MAX = 100

/** Where the socket of a data directory is; systems take about a hundred bytes. */
export function socketPath(directory: string): string {
  const digest = createHash('sha256').update(directory).digest('hex').slice(0, 24)
  if (process.platform === 'win32') return `\\\\.\\pipe\\sluice-${digest}`
  const path = join(directory, 'gate.sock')
  return Buffer.byteLength(path) <= PATH_BYTES_MAX ? path : join(tmpdir(), `sluice-${digest}.sock`)
}
