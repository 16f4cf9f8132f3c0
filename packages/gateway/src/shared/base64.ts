// UTF-8 in base64 for headers, as the pure modules want it from outside: they have no Buffer, and nothing
// else of Node either.

import type { Base64 } from '@sluice/protocol/mcp-headers'
import { decodeUtf8 } from './decode-utf8.ts'

export const BASE64: Base64 = {
  encode: (text) => Buffer.from(text, 'utf8').toString('base64'),
  decode: (base64) => decodeUtf8(Buffer.from(base64, 'base64')),
}
