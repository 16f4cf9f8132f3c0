// Six minimal URI readers as servers use them: which path, on which host, a server built on it
// would open. A URI that a reader rejects leads nowhere.

import { posix } from 'node:path'

export interface Place {
  readonly scheme: string
  /** Lower case, without user, default port and last dot. */
  readonly host: string
  readonly path: string
}

type Reader = (uri: string) => readonly Place[]

/** RFC 3986, appendix B. */
const PIECES = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)/s

const place = (scheme: string, host: string, path: string): Place => ({
  scheme: scheme.toLowerCase(),
  host: host
    .replace(/^.*@/s, '')
    .replace(/:(?:0*80)?$/, '')
    .replace(/\.$/, '')
    .toLowerCase(),
  path,
})

/** Not decoded, decoded once, and decoded repeatedly. */
function decodings(path: string): string[] {
  const once = unquote(path)
  return [path, once, unquote(once)]
}

/** Like Python's `unquote`: invalid UTF-8 becomes the replacement character. */
function unquote(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString(),
  )
}

const whatwg: Reader = (uri) => {
  const { protocol, host, pathname } = new URL(uri)
  return decodings(pathname).map((path) => place(protocol.slice(0, -1), host, path))
}

/** Node's `url.parse`: converts backslashes, trims, folds the host. */
const legacy: Reader = (uri) => {
  const [, scheme = '', host = '', path = ''] = PIECES.exec(uri.trim().replaceAll('\\', '/')) ?? []
  return decodings(path).map((each) => place(scheme, host, each))
}

/** `urllib.parse.urlparse`, with and without `;params`. */
const python: Reader = (uri) => {
  const bare = uri.replace(/[\t\r\n]/g, '').replace(/^[\0- ]+/, '')
  const [, scheme = '', host = '', path = ''] = PIECES.exec(bare) ?? []
  const withoutParams = scheme.toLowerCase() === 'http' ? path.replace(/;[^/]*$/, '') : path
  return [...decodings(path), ...decodings(withoutParams)].map((each) => place(scheme, host, each))
}

/** `net/url` and `path.Clean`. */
const go: Reader = (uri) => {
  if (/\p{Cc}/u.test(uri) || /%(?![0-9a-f]{2})/i.test(uri)) return []
  const [, scheme = '', host = '', path = ''] = PIECES.exec(uri) ?? []
  if (!/^[a-z][a-z0-9+.-]*$/i.test(scheme)) return []
  return decodings(path).map((each) => place(scheme, host, posix.normalize(`/${each}`)))
}

/** `java.net.URI` with `normalize`, then `Path.of(...).normalize()`, and Tomcat's path parameters. */
const java: Reader = (uri) => {
  if (/[\s\\"<>^`{|}]/.test(uri) || /%(?![0-9a-f]{2})/i.test(uri)) return []
  const [, scheme = '', host = '', path = ''] = PIECES.exec(uri) ?? []
  const plain = unquote(posix.normalize(path))
  const withoutParams = posix.normalize(unquote(path.replace(/;[^/]*/g, '')))
  return [plain, posix.normalize(plain), ...(scheme === 'http' ? [withoutParams] : [])].map(
    (each) => place(scheme, host, each),
  )
}

/** Decodes the whole text and takes what follows the scheme. */
const naive: Reader = (uri) => {
  const [, scheme = '', host = '', path = ''] = PIECES.exec(decodeURIComponent(uri)) ?? []
  return [place(scheme, host, posix.normalize(path.replaceAll('\\', '/')))]
}

const READERS: readonly Reader[] = [whatwg, legacy, python, go, java, naive]

/** Every place that one of the readers leads to. */
export function listPlaces(uri: string): Place[] {
  return READERS.flatMap((read) => {
    try {
      return read(uri)
    } catch {
      return []
    }
  }).map(({ scheme, host, path }) => ({
    scheme,
    // File servers open the path and ignore the host.
    host: scheme === 'file' ? '' : host,
    path: posix
      .normalize(`/${path}`)
      .replace(/\0.*$/s, '')
      .replace(/(?<=.)\/$/, ''),
  }))
}
