// Certificate and key of the gate, from the files that the configuration names. What is wrong with
// them at start is an error: a gate that cannot be reached safely does not begin to listen. Later the
// files are looked at like the policy's, and a pair that cannot be used changes nothing and is said.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Listeners } from '@sluice/policy/structures/listeners'
import type { ListenConfig } from '../../config/auth.ts'
import { TLS_SETTLE_MS } from '../../shared/limits.ts'
import type { Log } from '../../shared/log.ts'
import { watchFiles } from '../../shared/watch-files.ts'

export interface TlsPair {
  readonly cert: Buffer
  readonly key: Buffer
}

export class TlsCertificate {
  readonly #files: NonNullable<ListenConfig['tls']>
  readonly #log: Log
  #pair: TlsPair
  #certificate: X509Certificate
  #broken: string | undefined
  readonly #changed = new Listeners<[pair: TlsPair]>()
  readonly onChange = this.#changed.subscribe

  /** Throws if it cannot be used. */
  constructor(files: NonNullable<ListenConfig['tls']>, log: Log) {
    this.#files = files
    this.#log = log
    this.#pair = readPair(files)
    this.#certificate = new X509Certificate(this.#pair.cert)
  }

  get pair(): TlsPair {
    return this.#pair
  }

  get certificate(): X509Certificate {
    return this.#certificate
  }

  /** What is wrong with the files; undefined if they are what is served with. */
  get why(): string | undefined {
    return this.#broken
  }

  /** Returns what ends it. Two files are never written at once: it waits for the second. */
  watch(): () => void {
    let timer: NodeJS.Timeout | undefined
    const stop = watchFiles([this.#files.cert, this.#files.key], () => {
      clearTimeout(timer)
      timer = setTimeout(() => this.look(), TLS_SETTLE_MS).unref()
    })
    return () => {
      clearTimeout(timer)
      stop()
    }
  }

  look(): void {
    const previous = this.#broken
    try {
      const pair = readPair(this.#files)
      this.#broken = undefined
      if (pair.cert.equals(this.#pair.cert) && pair.key.equals(this.#pair.key)) return
      this.#changed.emit(pair)
      this.#pair = pair
      this.#certificate = new X509Certificate(pair.cert)
      this.#log('info', `another certificate is served, until ${this.#certificate.validTo}`)
    } catch (error) {
      this.#broken = `the certificate is as it was: ${(error as Error).message}`
      if (this.#broken !== previous) this.#log('error', this.#broken)
    }
  }
}

function readPair(files: NonNullable<ListenConfig['tls']>): TlsPair {
  const cert = readFile(files.cert, 'tls.cert')
  const key = readFile(files.key, 'tls.key')
  if (!isOfKey(cert, key))
    throw new Error(`the key \`${files.key}\` is not that of the certificate \`${files.cert}\``)
  return { cert, key }
}

function isOfKey(cert: Buffer, key: Buffer): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch (error) {
    throw new Error(`\`tls\` cannot be used: ${(error as Error).message}`)
  }
}

function readFile(file: string, what: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new Error(`\`${what}\` cannot be read: ${(error as Error).message}`)
  }
}
