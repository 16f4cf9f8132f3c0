// The client ID metadata document, as a gate serves it below its own address.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Authenticator } from '@sluice/access/identity/callers/authenticator'
import { DOCUMENT_PORT } from '@sluice/access/identity/oauth/client-document'
import { expect, test } from 'vitest'
import type { FrontRequest } from '../exchange/response-writer.ts'
import { HttpAuthenticator } from './http-authenticator.ts'

test('is served at its own URL only, with the fixed port of the redirect', async () => {
  const authenticate = new HttpAuthenticator({
    authenticator: {} as Authenticator,
    baseOf: () => 'https://gate.example',
    issuers: [],
    scopes: [],
    clientDocument: 'https://gate.example/oauth/client.json',
  })
  const server = createServer((request, response) => {
    const isServed = authenticate.metadata(request.url ?? '', request as FrontRequest, response)
    if (!isServed) response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const response = await fetch(`${base}/oauth/client.json`)
  expect(await response.json()).toEqual({
    client_id: 'https://gate.example/oauth/client.json',
    client_name: 'Sluice',
    application_type: 'native',
    redirect_uris: [`http://127.0.0.1:${DOCUMENT_PORT}/callback`],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  })
  expect(response.headers.get('cache-control')).toBe('max-age=3600')
  expect((await fetch(`${base}/oauth/other.json`)).status).toBe(404)
  server.close()
})
