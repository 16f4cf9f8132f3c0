// The console's page and its files, as they were built: read once into memory, served with headers
// that let the page run its own script and style, speak to this gate, and nothing else. No cookie, no
// frame, nothing from elsewhere.

import { existsSync, globSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, sep } from 'node:path'
import { gzipSync } from 'node:zlib'

/** The page finds out itself what the rest of the path means. */
const PAGES: ReadonlySet<string> = new Set([
  '',
  'overview',
  'alerts',
  'approvals',
  // An address of earlier versions: the page leads on.
  'live',
  'servers',
  'policy',
  'agents',
  'ledger',
  'settings',
  'sign-in',
  'connect',
])

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

const SECURITY = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

interface StaticFile {
  readonly type: string
  readonly plain: Buffer
  readonly zipped: Buffer
}

export class ConsolePage {
  readonly #directory: string
  #files: ReadonlyMap<string, StaticFile> | undefined

  /** In a clone beside the sources, in the package beside the compiled ones. */
  constructor(directory: string = builtConsole()) {
    this.#directory = directory
  }

  /** False if the path is not one of the console's. */
  serve(path: string, request: IncomingMessage, response: ServerResponse): boolean {
    const files = this.#read()
    const isPage = PAGES.has(path.split('/')[1] ?? '')
    const file = files.get(isPage ? '/index.html' : path)
    if (file === undefined && !isPage) return false
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { ...SECURITY, allow: 'GET, HEAD' }).end()
      return true
    }
    if (file === undefined) {
      const text = 'the console is not built: run `npm run build:console`, then reload this page\n'
      response.writeHead(503, { ...SECURITY, 'content-type': 'text/plain' }).end(text)
      return true
    }
    const zips = String(request.headers['accept-encoding'] ?? '').includes('gzip')
    const body = zips ? file.zipped : file.plain
    response.writeHead(200, {
      ...SECURITY,
      'content-type': file.type,
      'content-length': body.length,
      vary: 'accept-encoding',
      'cache-control': howLongFresh(path),
      ...(zips ? { 'content-encoding': 'gzip' } : {}),
    })
    response.end(request.method === 'HEAD' ? undefined : body)
    return true
  }

  #read(): ReadonlyMap<string, StaticFile> {
    if (this.#files !== undefined) return this.#files
    const names = existsSync(this.#directory) ? globSync('**/*.*', { cwd: this.#directory }) : []
    const files = names.flatMap((name): [string, StaticFile][] => {
      const type = TYPES[extname(name)]
      if (type === undefined) return []
      const plain = readFileSync(join(this.#directory, name))
      return [[`/${name.split(sep).join('/')}`, { type, plain, zipped: gzipSync(plain) }]]
    })
    // Until it is built it is looked for again.
    if (files.length > 0) this.#files = new Map(files)
    return new Map(files)
  }
}

function builtConsole(): string {
  const isSource = extname(import.meta.filename) === '.ts'
  const dist = isSource
    ? join(import.meta.dirname, '../../../../dist/sluice/dist')
    : join(import.meta.dirname, '..')
  return join(dist, 'console')
}

/** The names of assets have their digest in them; one page shows the icon several times. */
function howLongFresh(path: string): string {
  if (path.startsWith('/assets/')) return 'public, max-age=31536000, immutable'
  return path.endsWith('.svg') ? 'public, max-age=3600' : 'no-cache'
}
