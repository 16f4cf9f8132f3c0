// The client ID metadata document: the gate's client id is a URL, and the document there says who it is, so
// that no registration is needed. `sluice login` uses it at servers that take it; the gate serves it if the URL
// is one of its own.

import type { JsonObject } from '@sluice/policy/values/json'
import { isLoopbackName } from './safe-url.ts'

/** Some servers compare the redirect with its port, so it is always this one. */
export const DOCUMENT_PORT = 7434

/** A public client: any program on the machine of the person can pose as it. */
export function clientDocument(clientId: string): JsonObject {
  return { client_id: clientId, ...describeGate(`http://127.0.0.1:${DOCUMENT_PORT}/callback`) }
}

/** Describes the gate to authorisation servers (RFC 7591); on a machine of its own it is an application of the web. */
export function describeGate(redirect: string): JsonObject {
  return {
    client_name: 'Sluice',
    application_type: isLoopbackName(new URL(redirect).hostname) ? 'native' : 'web',
    redirect_uris: [redirect],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
}
