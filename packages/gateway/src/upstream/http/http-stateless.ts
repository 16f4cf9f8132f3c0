// HTTP towards a server of the stateless generation (2026-07-28): every request is a POST of its own with
// headers that repeat what its body says. There is no session, no stream but a request's own, and
// going away is how a request is cancelled.

import { isObject } from '@sluice/policy/values/json'
import { encodeValue, listParamHeaders, nameIn, readArgumentAt } from '@sluice/protocol/mcp-headers'
import { getMeta, META, STATELESS_REVISION } from '@sluice/protocol/protocol-generation'
import { BASE64 } from '../../shared/base64.ts'
import type { OutboundRequest } from '../upstream.ts'
import type { OutgoingMessage } from './http-host.ts'
import { POST_HEADERS, type Post } from './http-post.ts'
import { PostTransport } from './http-transport.ts'

export class StatelessHttpTransport extends PostTransport {
  /** Notifications and answers have nowhere to go in this generation. */
  protected override dispatch(message: OutgoingMessage): void {
    const { passing } = message
    if (passing === undefined) return
    const { pathname, search } = this.host.url
    this.post(message, {
      path: pathname + search,
      headers: headersFor(passing),
      answersElsewhere: false,
      staysOpen: passing.method === 'subscriptions/listen',
    })
  }

  override onAnswered(post: Post): void {
    this.end(post)
  }
}

/** Written from the body, never taken from a client. */
function headersFor({ method, params, tool }: OutboundRequest): Record<string, string> {
  const version = getMeta(params)[META.version]
  const headers: Record<string, string> = {
    ...POST_HEADERS,
    'mcp-protocol-version': typeof version === 'string' ? version : STATELESS_REVISION,
    'mcp-method': encodeValue(method, BASE64),
  }
  const name = nameIn(method, params)
  if (name !== undefined) headers['mcp-name'] = encodeValue(name, BASE64)
  const args = params?.value.arguments
  if (!isObject(args)) return headers
  for (const { header, path } of listParamHeaders(tool?.definition.inputSchema) ?? []) {
    const value = readArgumentAt(args, path)
    if (value !== undefined) headers[header] = encodeValue(String(value), BASE64)
  }
  return headers
}
