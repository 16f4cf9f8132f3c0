// An HTTP/1.1 request as text: one head, one body whose length it says. Whatever would make two
// requests of it, or another length, is refused before a byte is written. Pure.

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** With the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** What the connection itself says. */
const OURS = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const NAME = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const PATH = /^\/[\x21-\x7e]*$/
/** Texts of headers that were written before: a link sends the same ones with every call. */
const written = new WeakMap<object, string>()

/** Throws where a header or the path is none. In latin1, up to the end of the head. */
export function writeHead(host: string, { method, path, headers, body }: HttpRequest): string {
  let lines = written.get(headers)
  if (lines === undefined) {
    lines = headerLines(host, headers)
    written.set(headers, lines)
  }
  if (!PATH.test(path)) throw new Error('the path of the url cannot be sent')
  const head = `${method} ${path} HTTP/1.1\r\n${lines}`
  return body === undefined
    ? `${head}\r\n`
    : `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n`
}

function headerLines(host: string, headers: Readonly<Record<string, string>>): string {
  let lines = headers.host === undefined ? `host: ${host}\r\n` : ''
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name) || !VALUE.test(value) || OURS.has(name.toLowerCase()))
      throw new Error(`the header \`${name}\` cannot be sent`)
    lines += `${name}: ${value}\r\n`
  }
  return `${lines}connection: keep-alive\r\n`
}
