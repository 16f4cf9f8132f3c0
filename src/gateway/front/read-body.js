// The body of a request, whole and strictly UTF-8, or why not. Nothing that two readers could take
// for two things: no content encoding, no other charset, no byte order mark slipping by.
export async function readBody(request, bytesMax) {
  const {
    'content-type': type = '',
    'content-encoding': encoding,
    'content-length': length,
  } = request.headers
  const [media = '', ...parameters] = type
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  if (media !== 'application/json')
    return { status: 415, why: 'the content type is not application/json' }
  if (
    parameters.some(
      (part) =>
        part.startsWith('charset=') && part !== 'charset=utf-8' && part !== 'charset="utf-8"',
    )
  )
    return { status: 415, why: 'the charset is not UTF-8' }
  if (encoding !== undefined) return { status: 415, why: 'content encodings are not read here' }
  const tooLarge = { status: 413, why: `the body has more than ${bytesMax} bytes` }
  if (Number(length ?? 0) > bytesMax) return tooLarge
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > bytesMax) return tooLarge
    chunks.push(chunk)
  }
  try {
    return { text: UTF8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)) }
  } catch {
    return { status: 400, why: 'the body is not UTF-8' }
  }
}
/** Keeps a byte order mark, so that the reader can refuse it. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
