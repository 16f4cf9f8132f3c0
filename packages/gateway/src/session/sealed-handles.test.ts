// Coming back with a sealed state goes on with the very call that it was given for.

import { HandleSealer } from '@sluice/access/identity/keys/handle-sealer'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { readMembers } from '@sluice/protocol/members'
import { expect, test } from 'vitest'
import { Continuations } from './continuations.ts'
import { SealedHandles } from './sealed-handles.ts'

const PARAMS = { name: 'pay', arguments: { amount: 1 } }

test('finding: an approved call that wanted input does not come back with other members', () => {
  const seals = new HandleSealer(new InstallationKey(Buffer.alloc(32, 7)))
  const continuations = new Continuations(() => 0)
  const handles = new SealedHandles({
    generation: 'stateless',
    seals,
    server: 's',
    principal: 'p',
    continuations,
  })
  const paramsOf = (params: object) => readMembers(JSON.stringify(params))
  const ask = (): string => {
    const wanted = new Map([['inputRequests', '{"a":{"method":"elicitation/create"}}']])
    const call = { method: 'tools/call', name: 'pay', params: paramsOf(PARAMS), rounds: 0 }
    return JSON.parse(handles.sealRound(wanted, call) as string).requestState
  }
  const back = (more: object) =>
    handles.open({
      kind: 'request',
      id: 1,
      method: 'tools/call',
      source: '',
      params: paramsOf({ ...PARAMS, requestState: ask(), ...more }),
    })
  expect(back({ inputResponses: { a: {} }, _meta: { progressToken: 2 } })).toMatchObject({
    continues: true,
  })
  for (const more of [{ task: { ttl: 1 } }, { arguments: { amount: 2 } }, { other: 1 }])
    expect(back(more)).toMatchObject({ refused: expect.stringContaining('for this call') })
})
