// The admin API on a real HTTP server, without a gate around it: people with PINs of little cost, and a
// page that signs in and proves as the console does.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SoftwareKey } from '@sluice/access/identity/people/software-key.test-support'
import type { Person } from '@sluice/access/identity/person'

/** Cheap enough for tests; the real cost slows down guessing. */
export const TEST_PIN_COST = 2 ** 4

export interface Reply {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: taken apart by the test
  readonly body: any
}

export async function listen(
  handler: (...args: Parameters<Parameters<typeof createServer>[1] & object>) => void,
): Promise<{ server: Server; origin: string }> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { server, origin: `http://localhost:${port}` }
}

/** A page of the console, as far as it speaks to the API. */
export class Page {
  readonly origin: string
  token: string | undefined
  readonly key: SoftwareKey

  constructor(origin: string) {
    this.origin = origin
    this.key = new SoftwareKey(origin)
  }

  async ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : toText(body)
    const response = await fetch(`${this.origin}${path}`, {
      method,
      headers: {
        ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }),
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
    })
    const received = await response.text()
    return { status: response.status, body: received === '' ? undefined : JSON.parse(received) }
  }

  async signIn(code: string): Promise<Reply> {
    const reply = await this.ask('POST', '/api/sign-in', { code })
    if (reply.status === 200) this.token = reply.body.token
    return reply
  }

  async addPasskey(pin?: string): Promise<Reply> {
    const { body } = await this.ask('POST', '/api/passkeys/challenge')
    const attestation = this.key.attest(body.challenge)
    return this.ask('POST', '/api/passkeys', { label: 'test', attestation, pin })
  }

  async signInWithPasskey(): Promise<Reply> {
    const { body } = await this.ask('POST', '/api/sign-in/challenge')
    const reply = await this.ask('POST', '/api/sign-in', {
      assertion: this.key.assert(body.challenge),
    })
    if (reply.status === 200) this.token = reply.body.token
    return reply
  }

  /** With the passkey, for just this. */
  async prove(method: string, path: string, body?: unknown): Promise<Reply> {
    const text = body === undefined ? '' : toText(body)
    const { status, body: answer } = await this.ask('POST', '/api/proofs', {
      method,
      path,
      body: text,
    })
    if (status !== 200) return { status, body: answer }
    return this.ask(method, path, text === '' ? undefined : text, this.proofOf(answer.challenge))
  }

  proofOf(challenge: object): Record<string, string> {
    const assertion = JSON.stringify(this.key.assert(challenge))
    return { 'sluice-proof': Buffer.from(assertion).toString('base64') }
  }
}

export function personCalled(name: string, ...roles: Person['roles'][number][]) {
  return { name, kind: 'person' as const, roles, groups: [], owns: [] }
}

function toText(body: unknown): string {
  return JSON.stringify(body)
}
