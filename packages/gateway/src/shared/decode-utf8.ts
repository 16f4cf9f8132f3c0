// Bytes of a peer, from either side, as text: strictly. Replaced bytes would be another text than the
// peer sent, and a byte order mark is kept so that the reader can refuse it.

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Throws if the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  return UTF8.decode(bytes)
}
