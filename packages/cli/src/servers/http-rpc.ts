// A minimal MCP client over Streamable HTTP, for `sluice scan`, `init`, `doctor --start`, `tools export` and `demo`: one
// request at a time, each answered by JSON or by an event of a stream. The server is untrusted: its
// output is bounded.

import { readSecrets, type Secret } from '@sluice/access/identity/oauth/secret-text'
import { decodeUtf8 } from '@sluice/gateway/shared/decode-utf8'
import { attempt } from '@sluice/policy/structures/attempt'
import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { readEvents } from '@sluice/protocol/sse'
import { SCAN_BYTES_MAX } from '../terminal/limits.ts'

export interface HttpAddress {
  readonly url: string
  readonly headers?: Readonly<Record<string, Secret>>
}

/** Resolves to the response, a result or an error; to an empty object for a notification. */
export type SendHttp = (method: string, params: object, wantsAnswer: boolean) => Promise<JsonObject>

export function openHttpRpc(
  { url, headers = {} }: HttpAddress,
  signal: AbortSignal | null = null,
): SendHttp {
  let session: string | null = null
  let id = 0
  return async (method, params, wantsAnswer) => {
    const own = wantsAnswer ? { id: ++id } : {}
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session === null ? {} : { 'mcp-session-id': session }),
        ...readSecrets(headers),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...own, method, params }),
      redirect: 'error',
      signal,
    })
    session ??= response.headers.get('mcp-session-id')
    if (!response.ok)
      throw new Error(`HTTP ${response.status}: ${(await response.text()).slice(0, 200)}`)
    if (wantsAnswer) return findAnswer(response, id)
    await response.body?.cancel()
    return {}
  }
}

async function findAnswer(response: Response, id: number): Promise<JsonObject> {
  const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
  if (!isStream || response.body === null) {
    const text = await response.text()
    if (text.length > SCAN_BYTES_MAX) throw new Error(`more than ${SCAN_BYTES_MAX} bytes`)
    const message = readAnswer(text, id)
    if (message !== undefined) return message
  } else
    for await (const { data } of readEvents(response.body, decodeUtf8, {
      lengthMax: SCAN_BYTES_MAX,
    })) {
      const message = readAnswer(data, id)
      if (message !== undefined) return message
    }
  throw new Error('its output has no answer')
}

function readAnswer(text: string, id: number): JsonObject | undefined {
  const message: unknown = attempt(() => JSON.parse(text))
  if (message === undefined) throw new Error(`its output is not JSON: \`${text.slice(0, 200)}\``)
  return isObject(message) && message.id === id && message.method === undefined
    ? message
    : undefined
}
