// People, grants and the freeze over `/api`: what `sluice approvers`, `grants`, `freeze` and `thaw` do,
// with a passkey in the place of the PIN. Tokens and invitations are in one answer and nowhere else.

import type { JsonObject } from '@sluice/policy/core/json'
import { z } from 'zod'
import { type Person, ROLES } from '../../core/person.ts'
import { type FreezeParts, freeze, thaw, toFreezeView } from '../../operations/freeze.ts'
import {
  addGrant,
  type GrantParts,
  grantTold,
  revokeGrant,
} from '../../operations/grant-commands.ts'
import { addBy, listPeople, type PeopleParts, removeBy } from '../../operations/people-commands.ts'
import { REQUIRED_ROLES } from '../../operations/verify-person.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'

export interface PeopleEndpointParts {
  readonly people: Omit<PeopleParts, 'prove'>
  readonly grants: GrantParts
  readonly freezing: FreezeParts
  /** A link by which somebody without any credential adds the first passkey. */
  readonly invite: (name: string, by: Person) => Promise<string>
  readonly signOut: (name: string) => void
}

const NAME = z.string().min(1).max(64)
const NAMES = z.array(z.string().min(1).max(300)).max(64)
const NEW_PERSON = z.strictObject({
  name: NAME,
  roles: z.array(z.enum(ROLES)).min(1).optional(),
  groups: NAMES.optional(),
  owns: NAMES.optional(),
  /** A system: the answer has its credential, this once. */
  token: z.boolean().optional(),
})
const NEW_GRANT = z.strictObject({
  name: NAME,
  policy: NAME,
  slots: z.number().int().optional(),
  groups: NAMES.optional(),
  explain: z.boolean().optional(),
})
const TARGET = z.strictObject({
  server: z.string().optional(),
  principal: z.string().optional(),
  agent: z.string().optional(),
})

export function peopleEndpoints(parts: PeopleEndpointParts): Endpoint[] {
  const { people, grants, freezing } = parts
  return [
    endpoint({
      ...{ method: 'GET', path: '/api/people', role: 'viewer' },
      summary: 'who may decide',
      handle: () => listPeople(people),
    }),
    endpoint({
      ...{ method: 'POST', path: '/api/people', role: 'admin', proof: true, body: NEW_PERSON },
      summary: 'let somebody decide: with a credential for a system, a link for a person, once',
      handle: async ({ body, person }) => {
        const added = await addBy(people, person, body as JsonObject)
        if (body.token === true) return added
        return { ...added, invitation: await parts.invite(body.name, person) }
      },
    }),
    endpoint({
      ...{ method: 'DELETE', path: '/api/people/:name', role: 'admin', proof: true },
      summary: 'let somebody decide no more',
      handle: async ({ params, person }) => {
        const removed = await removeBy(people, person, { name: params.name ?? '' })
        parts.signOut(params.name ?? '')
        return removed
      },
    }),
    endpoint({
      ...{ method: 'GET', path: '/api/grants', role: 'viewer' },
      summary: 'who may call, the revoked ones too',
      handle: () => ({
        grants: grants.grants.list().map(grantTold),
        policies: grants.policies,
        localUser: !grants.grants.exist,
      }),
    }),
    endpoint({
      ...{
        method: 'POST',
        path: '/api/grants',
        role: REQUIRED_ROLES.grants,
        proof: true,
        body: NEW_GRANT,
      },
      summary: 'let somebody call: the token is in the answer, this once',
      handle: ({ body, person }) => addGrant(grants, body as JsonObject, person),
    }),
    endpoint({
      ...{ method: 'DELETE', path: '/api/grants/:name', role: REQUIRED_ROLES.grants, proof: true },
      query: z.strictObject({ forget: z.enum(['true', 'false']).optional() }),
      summary: 'end a grant and its sessions; with `forget` it is off the list, too',
      handle: ({ params, query, person }) => {
        const request = { name: params.name ?? '', forget: query.forget === 'true' }
        return revokeGrant(grants, request, person)
      },
    }),
    endpoint({
      ...{ method: 'GET', path: '/api/freeze', role: 'viewer' },
      summary: 'what is frozen',
      handle: () => ({ frozen: freezing.freezes.list.map(toFreezeView) }),
    }),
    endpoint({
      ...{ method: 'POST', path: '/api/freeze', role: 'approver' },
      body: TARGET.extend({ why: z.string().optional() }),
      summary: 'let nothing pass any more; it stops, so it needs no passkey',
      handle: ({ body }) => freeze(freezing, body as JsonObject),
    }),
    endpoint({
      ...{
        method: 'POST',
        path: '/api/thaw',
        role: REQUIRED_ROLES.thaw,
        proof: true,
        body: TARGET,
      },
      summary: 'let pass again what was frozen',
      handle: ({ body, person }) => thaw(freezing, body as JsonObject, person),
    }),
  ]
}
