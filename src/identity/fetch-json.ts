// JSON from an authorisation server: over TLS that is always verified (plain only on this machine),
// no redirect followed, bounded in time and size. Used for keys, metadata and logins.

import type { Agent } from 'undici'
import { isObject, type JsonObject } from '../core/json.ts'
import { FETCH_BYTES_MAX, FETCH_MS_MAX } from './limits.ts'
import { isSafeUrl } from './safe-url.ts'

export interface Fetched {
  readonly status: number
  /** `WWW-Authenticate`, where there is one. */
  readonly challenge: string | undefined
  /** Empty where the answer is no JSON object. */
  readonly value: JsonObject
  readonly text: string
}

export interface FetchOptions {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
}

/** One for all; the library is loaded with the first, since most gates need none. */
let agent: Agent | undefined

async function loadFetch() {
  const { Agent, fetch } = await import('undici')
  // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED cannot take it away.
  agent ??= new Agent({ connect: { rejectUnauthorized: true, timeout: FETCH_MS_MAX } })
  return { fetch, dispatcher: agent }
}

/** Throws where nothing usable comes: the message says why. */
export async function fetchJson(url: string, options: FetchOptions = {}): Promise<Fetched> {
  if (!isSafeUrl(url)) throw new Error(`\`${url.slice(0, 200)}\` is not https`)
  const { method = 'GET', headers = {}, body } = options
  const limit = AbortSignal.timeout(FETCH_MS_MAX)
  try {
    const { fetch, dispatcher } = await loadFetch()
    const response = await fetch(url, {
      method,
      headers: { accept: 'application/json', ...headers },
      body: body ?? null,
      redirect: 'manual',
      signal: options.signal === undefined ? limit : AbortSignal.any([limit, options.signal]),
      dispatcher,
    })
    const challenge = response.headers.get('www-authenticate') ?? undefined
    const text = await readText(response.body, response.ok)
    return { status: response.status, challenge, value: objectOf(text), text }
  } catch (error) {
    const { message, cause } = error as Error
    const why = cause instanceof Error ? `${message}: ${cause.message}` : message
    throw new Error(`\`${url.slice(0, 200)}\` cannot be read: ${why}`)
  }
}

/** Of an error page the beginning will do. */
async function readText(
  body: AsyncIterable<Uint8Array> | null,
  isWanted: boolean,
): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > FETCH_BYTES_MAX && isWanted)
      throw new Error(`it has more than ${FETCH_BYTES_MAX} bytes`)
    if (bytes > FETCH_BYTES_MAX) break
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function objectOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
