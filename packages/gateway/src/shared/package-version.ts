// The version of this package: what the gate tells clients of all servers that it is, and what the
// command line prints.

import { readFileSync } from 'node:fs'

export function readPackageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
