// Whose words a prompt over `/api` is: a person's who signed in, and nobody's who only has a token.

import type { Person } from '@sluice/access/identity/person'
import type { PromptArguments } from '@sluice/agents/service/service-types'
import { expect, test } from 'vitest'
import type { EndpointCall } from '../http/endpoint.ts'
import { agentsEndpoints } from './agents-endpoints.ts'

test.each([
  ['person', 'passkey', 'person'],
  ['person', 'pin', 'person'],
  ['person', 'oauth', 'person'],
  // An access token of an authorisation server, which an agent may have.
  ['person', 'token', 'model'],
  ['system', 'token', 'model'],
] as const)(
  'finding: a prompt of a %s signed in by %s is that of a %s',
  async (kind, proof, writer) => {
    const prompts: PromptArguments[] = []
    const service = {
      steps: { standing: async () => ({ agent: { owner: 'ci' } }) },
      prompt: async (_owner: string, _id: string, prompt: PromptArguments) => {
        prompts.push(prompt)
        return { state: 'idle' }
      },
    }
    const rows = agentsEndpoints(() => service as never, {} as never)
    const row = rows.find(({ path }) => path === '/api/agents/:id/prompt')
    const person: Person = { name: 'ann', kind, roles: ['viewer'], groups: [], owns: ['ci'], proof }
    const call = { person, input: { id: 'a', input: 'pay 100 to bob' } }
    await row?.handle(call as unknown as EndpointCall<never>)
    expect(prompts).toMatchObject([{ writer: { kind: writer } }])
  },
)
