// The body of a request, whole and strictly UTF-8, or why not. Nothing that two readers could take
// for two things: no content encoding, no other charset, no byte order mark slipping by.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { decodeUtf8 } from '../../shared/decode-utf8.ts'

export type BodyResult =
  | { readonly text: string }
  | { readonly text?: undefined; readonly status: number; readonly why: string }

/** Decodes a body that is there, whole; as text where it is all ASCII. */
export function decodeBody(headers: IncomingHttpHeaders, body: string | Buffer): BodyResult {
  const why = unreadable(headers)
  if (why !== undefined) return { status: 415, why }
  return typeof body === 'string' ? { text: body } : decoded(body)
}

/** Rejects if the client goes away before the end. */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<BodyResult> {
  const why = unreadable(request.headers)
  if (why !== undefined) return Promise.resolve({ status: 415, why })
  const tooLarge = { status: 413, why: `the body has more than ${bytesMax} bytes` }
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return Promise.resolve(tooLarge)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const take = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes <= bytesMax) return void chunks.push(chunk)
      chunks.length = 0
      // Not destroyed: the client is to read why.
      request.off('data', take).pause()
      resolve(tooLarge)
    }
    request.on('data', take)
    request.on('end', () => {
      if (bytes <= bytesMax) resolve(decoded(Buffer.concat(chunks)))
    })
    request.on('error', reject)
  })
}

function decoded(bytes: Buffer): BodyResult {
  try {
    return { text: decodeUtf8(bytes) }
  } catch {
    return { status: 400, why: 'the body is not UTF-8' }
  }
}

function unreadable(headers: IncomingHttpHeaders): string | undefined {
  const { 'content-type': type = '', 'content-encoding': encoding } = headers
  if (type === 'application/json' && encoding === undefined) return undefined
  const [media, ...parameters] = type.toLowerCase().split(';').map(trim)
  if (media !== 'application/json') return 'the content type is not application/json'
  const charsets = parameters.filter((part) => /^charset\s*=/.test(part))
  if (!charsets.every((part) => /^charset="?utf-8"?$/.test(part))) return 'the charset is not UTF-8'
  return encoding === undefined ? undefined : 'content encodings are not read here'
}

function trim(text: string): string {
  return text.trim()
}
