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
/** Heads that were written before, but for the length: a link sends the same with every call. */
const written = new WeakMap<object, { method: string; path: string; text: string }>()

/** Throws where a header or the path is none. In latin1, up to the end of the head. */
export function writeHead(
  host: string,
  { method, path, headers, body }: HttpRequest,
  bodyBytes: number,
): string {
  let known = written.get(headers)
  if (known?.path !== path || known.method !== method) {
    if (!PATH.test(path)) throw new Error('the path of the url cannot be sent')
    const text = `${method} ${path} HTTP/1.1\r\n${headerLines(host, headers)}`
    known = { method, path, text }
    written.set(headers, known)
  }
  return body === undefined
    ? `${known.text}\r\n`
    : `${known.text}content-length: ${bodyBytes}\r\n\r\n`
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
