// Certificate and key of the gate, from the files that the configuration names. What is wrong with
// them is said at start: a gate that cannot be reached safely does not begin to listen.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Reach } from '../config/auth.ts'

export function readTls({ tls }: Reach): { cert: Buffer; key: Buffer } | undefined {
  if (tls === undefined) return undefined
  const cert = readFile(tls.cert, 'tls.cert')
  const key = readFile(tls.key, 'tls.key')
  try {
    const isOfKey = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
    if (isOfKey) return { cert, key }
  } catch (error) {
    throw new Error(`\`tls\` cannot be used: ${(error as Error).message}`)
  }
  throw new Error(`the key \`${tls.key}\` is not that of the certificate \`${tls.cert}\``)
}

function readFile(file: string, what: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new Error(`\`${what}\` cannot be read: ${(error as Error).message}`)
  }
}
