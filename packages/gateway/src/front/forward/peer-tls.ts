// TLS between the gates of a cluster: both sides prove that they have the key of the cluster (a pre-shared
// key, TLS 1.3 with an ephemeral exchange), and no certificate is needed. The key is another one for each
// gate that is called, so that a connection ends at the gate that was meant, or nowhere.

import type { ConnectionOptions, TlsOptions } from 'node:tls'

/** The pre-shared key for connections to a gate. */
export type PeerKeyOf = (gate: string) => Buffer

const COMMON = {
  // Suites with SHA-256 only: OpenSSL binds an external key to that hash.
  ciphers: 'TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256',
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
} as const

export function toServerTls(gate: string, keyOf: PeerKeyOf): TlsOptions {
  return {
    ...COMMON,
    pskCallback: (_socket, identity) => (identity === gate ? keyOf(gate) : null),
  }
}

export function toClientTls(gate: string, keyOf: PeerKeyOf): ConnectionOptions {
  return {
    ...COMMON,
    // A certificate, of whomever, proves nothing here.
    ca: [],
    checkServerIdentity: (_host, certificate) =>
      Object.keys(certificate ?? {}).length === 0
        ? undefined
        : new Error('the other side showed a certificate, and not the key of the cluster'),
    pskCallback: () => ({ identity: gate, psk: keyOf(gate) }),
  }
}
