// A self-signed certificate for this machine, created when a test needs one: the few structures of
// X.509 that a server certificate has, written in DER by hand.

import { generateKeyPairSync, sign } from 'node:crypto'

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  const length =
    body.length < 0x80
      ? [body.length]
      : body.length < 0x100
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}

const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts)
const bytes = (...values: number[]): Buffer => Buffer.from(values)
/** ecdsa-with-SHA256, commonName, subjectAltName. */
const ECDSA = sequence(der(0x06, bytes(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)))
const COMMON_NAME = der(0x06, bytes(0x55, 0x04, 0x03))
const ALT_NAME = der(0x06, bytes(0x55, 0x1d, 0x11))

/** For `localhost` and 127.0.0.1, from yesterday until tomorrow. */
export function selfSigned(): { cert: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from('localhost')))))
  const time = (days: number): Buffer => {
    const text = new Date(Date.now() + days * 86_400_000).toISOString().replace(/[-:T]|\.\d+/g, '')
    return der(0x18, Buffer.from(text))
  }
  const names = sequence(der(0x82, Buffer.from('localhost')), der(0x87, bytes(127, 0, 0, 1)))
  const extensions = der(0xa3, sequence(sequence(ALT_NAME, der(0x04, names))))
  const content = sequence(
    der(0xa0, der(0x02, bytes(2))),
    der(0x02, bytes(1)),
    ECDSA,
    name,
    sequence(time(-1), time(1)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions,
  )
  const signature = der(0x03, bytes(0), sign('sha256', content, privateKey))
  const body =
    sequence(content, ECDSA, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return {
    cert: ['-----BEGIN CERTIFICATE-----', ...body, '-----END CERTIFICATE-----', ''].join('\n'),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
