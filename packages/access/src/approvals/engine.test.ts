// Approvals: the binding of a request, whose vote counts, how often it may be used, and crashes.

import type { ApprovalRequirement } from '@sluice/policy/calls/decision'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ApprovalSubmission } from './approval-submission.ts'
import {
  ASK,
  ada,
  asking,
  bench,
  bob,
  type EngineBench,
  makeCall,
  person,
  proposed,
  yes,
} from './engine.test-support.ts'
import { toCanonicalJsonText } from './json-text.ts'
import {
  OPEN_PER_SESSION_MAX,
  OPEN_PER_TOOL_MAX,
  REPEAT_REFUSED_MS,
  UNUSED_MS_MAX,
} from './limits.ts'
import { maskText } from './mask-text.ts'

describe('a request', () => {
  test('is one per call, approved once, used once', async () => {
    const b = bench()
    const id = await proposed(b, makeCall('{"amount":1}'))
    expect(await proposed(b, makeCall('{ "amount": 1 }', { callId: 'c2', session: 'y' }))).toBe(id)
    await b.engine.decide(id, yes, ada, 'terminal')
    await expect(b.engine.decide(id, yes, bob, 'terminal')).rejects.toThrow('approved already')
    expect(await b.engine.ask(makeCall('{"amount":1}'))).toEqual({
      is: 'approved',
      id,
      by: ['ada'],
    })
    expect([b.engine.use(id, 'c1'), b.engine.use(id, 'c2')]).toEqual([true, false])
    expect(await b.engine.ask(makeCall('{"amount":1}'))).toEqual({
      is: 'used',
      id,
      usedBy: 'c1',
    })
    b.engine.settled(id, 'c1', 'executed')
    expect(b.engine.find(id)).toMatchObject({ state: 'executed', usedBy: 'c1', args: '' })
    b.nowMs += REPEAT_REFUSED_MS
    expect(await proposed(b, makeCall('{"amount":1}'))).not.toBe(id)
  })

  test('finding: an identical call is told so for 10 s after a slow one was answered', async () => {
    const b = bench()
    const id = await proposed(b, makeCall('{"amount":1}'))
    await b.engine.decide(id, yes, ada, 'terminal')
    b.engine.use(id, 'c1')
    b.nowMs += REPEAT_REFUSED_MS + 5_000
    b.engine.settled(id, 'c1', 'executed')
    b.nowMs += REPEAT_REFUSED_MS - 1
    expect(await b.engine.ask(makeCall('{"amount":1}'))).toEqual({ is: 'used', id, usedBy: 'c1' })
    b.nowMs += 1
    expect(await proposed(b, makeCall('{"amount":1}'))).not.toBe(id)
  })

  test.each([
    ['another number', { args: '{"amount":2}' }],
    ['the same number in other digits', { args: '{"amount":1.0}' }],
    ['another principal', { principal: { id: 'eve', kind: 'grant' } }],
    ['an agent', { agent: 'a1' }],
    ['another server', { server: 't' }],
    ['another member of params', { rest: '{"name":"pay","task":{"ttl":1}}' }],
  ])('does not hold for %s', async (_what, more) => {
    const b = bench()
    const id = await proposed(b, makeCall('{"amount":1}'))
    await b.engine.decide(id, yes, ada, 'terminal')
    expect(await proposed(b, makeCall('{"amount":1}', more))).not.toBe(id)
  })

  test('keeps digits that a double would round', async () => {
    const b = bench()
    const id = await proposed(b, makeCall('{"n":9007199254740993}'))
    expect(b.engine.find(id)?.args).toBe('{"n":9007199254740993}')
    expect(await proposed(b, makeCall('{"n":9007199254740992}'))).not.toBe(id)
  })

  test('nothing of its arguments is readable in the store, and they are deleted with the verdict', async () => {
    const b = bench()
    const id = await proposed(b, makeCall('{"to":"somebody-nobody-knows"}'))
    const rows = () => JSON.stringify(b.database.prepare('SELECT * FROM approvals').all())
    const blob = () => b.database.prepare('SELECT args FROM approvals').get()?.args as Uint8Array
    expect(rows()).not.toContain('somebody-nobody-knows')
    expect(Buffer.from(blob()).toString('latin1')).not.toContain('somebody')
    await b.engine.decide(id, { verdict: 'deny' }, ada, 'terminal')
    expect(blob()).toBeNull()
  })

  test('shows secrets masked, and in full only if that is recorded', async () => {
    const b = bench()
    const id = await proposed(b, makeCall('{"password":"hunter2hunter2","x":1.50}'))
    expect(b.engine.find(id)?.args).toBe('{"password":"[masked: 14 characters]","x":1.50}')
    expect((await b.engine.reveal(id, ada)).args).toContain('hunter2hunter2')
    expect(b.events.at(-1)).toMatchObject({ name: 'approval-revealed', detail: { by: 'ada' } })
    await expect(b.engine.reveal(id, person('eve', { roles: ['viewer'] }))).rejects.toThrow('eve')
  })

  test('approved and not used can be revoked; used, it cannot', async () => {
    const b = bench()
    const id = await proposed(b, makeCall('{}'))
    await b.engine.decide(id, yes, ada, 'terminal')
    const no = { verdict: 'deny', comment: 'wait' } as const
    expect((await b.engine.decide(id, no, bob, 'terminal')).state).toBe('denied')
    expect([b.engine.use(id, 'c1'), await b.engine.ask(makeCall('{}'))]).toEqual([
      false,
      { is: 'denied', id, why: 'wait' },
    ])
    const second = await proposed(b, makeCall('{}'))
    await b.engine.decide(second, yes, ada, 'terminal')
    b.engine.use(second, 'c1')
    await expect(b.engine.decide(second, no, bob, 'terminal')).rejects.toThrow('approved already')
  })

  test('that cannot be recorded notifies no one', async () => {
    const b = bench()
    b.fault = 'disk full'
    const hold = await b.engine.ask(makeCall('{}'))
    expect(hold).toMatchObject({ is: 'refused', why: expect.stringContaining('disk full') })
    expect(await b.engine.list({ states: ['pending'] })).toEqual([])
  })

  test('a verdict that cannot be recorded changes nothing', async () => {
    const b = bench()
    const id = await proposed(b, makeCall('{}'))
    b.fault = 'disk full'
    await expect(b.engine.decide(id, yes, ada, 'terminal')).rejects.toThrow('disk full')
    expect(b.engine.find(id)).toMatchObject({ state: 'pending', votes: [] })
  })

  test('expires by wall time, also over a restart, and that is a denial reported once', async () => {
    const b = bench()
    const id = await proposed(b, makeCall('{}'))
    b.engine.close()
    b.nowMs += 60_000
    b.open()
    expect(await b.engine.ask(makeCall('{}'))).toMatchObject({ is: 'expired', id })
    await expect(b.engine.decide(id, yes, ada, 'terminal')).rejects.toThrow('expired')
    expect(await proposed(b, makeCall('{}'))).not.toBe(id)
  })

  test('that expired does not answer another session: it gets a new request, and the reason', async () => {
    const b = bench()
    const id = await proposed(b, makeCall('{}'))
    b.nowMs += 60_000
    const next = makeCall('{}', { session: 'y' })
    const hold = await b.engine.ask(next)
    const expired = 'nobody decided in time'
    expect(hold).toMatchObject({ is: 'pending', expired })
    expect(b.engine.find(id)?.state).toBe('expired')
    expect((await b.engine.list({ states: ['pending'] })).map(({ session }) => session)).toEqual([
      'y',
    ])
    // Also when it asks again, and to a caller that is told, the reason is no secret of one session.
    expect(await b.engine.ask(next)).toMatchObject({ is: 'pending', expired })
    expect(await b.engine.ask(makeCall('{"n":1}'))).not.toHaveProperty('expired')
  })

  test.each([
    ['deny', 'denied'],
    ['approve', 'approved'],
  ] as const)(
    'finding: %s while it is being recorded is the answer, and not waited for',
    async (verdict, is) => {
      const b = bench()
      const { promise, resolve: record } = Promise.withResolvers<void>()
      b.untilProposed = promise
      const asked = b.engine.ask(makeCall('{}'))
      const [request] = await b.engine.list()
      await b.engine.decide(request?.id ?? '', { verdict }, ada, 'terminal')
      record()
      expect(await asked).toMatchObject({ is, id: request?.id })
    },
  )

  test('expires automatically', async () => {
    const b = bench()
    const id = await proposed(b, makeCall('{}', asking({ timeoutMs: 5 })))
    b.nowMs += 5
    await b.engine.change(id, 10_000)
    expect(b.engine.find(id)?.state).toBe('expired')
  })

  test('approved and never used expires too', async () => {
    const b = bench()
    const id = await proposed(b, makeCall('{}'))
    await b.engine.decide(id, yes, ada, 'terminal')
    b.nowMs += UNUSED_MS_MAX
    expect(b.engine.use(id, 'c1')).toBe(false)
    expect(await b.engine.ask(makeCall('{}'))).toMatchObject({ is: 'expired' })
  })

  test('is void when its rule or its definition changes; other rules change nothing', async () => {
    const b = bench()
    const id = await proposed(b, makeCall('{}'))
    b.engine.policyChanged((says) => says === 'rule')
    b.engine.definitionSeen('s', 'other', 'pin 2')
    expect(b.engine.find(id)?.state).toBe('pending')
    const again = await proposed(b, makeCall('{}', asking({ says: 'rule 2' })))
    expect([again === id, b.engine.find(id)?.state]).toEqual([false, 'void'])
    b.engine.definitionSeen('s', 'pay', 'pin 2')
    expect(b.engine.find(again)).toMatchObject({
      state: 'void',
      why: expect.stringMatching('defin'),
    })
    const third = await proposed(b, makeCall('{}'))
    b.engine.policyChanged(() => false)
    await expect(b.engine.decide(third, yes, ada, 'terminal')).rejects.toThrow('void')
  })
})

describe('limits on requests', () => {
  test('a maximum per tool and session', async () => {
    const b = bench()
    for (let at = 0; at < OPEN_PER_TOOL_MAX; at++) await proposed(b, makeCall(`{"n":${at}}`))
    expect(await b.engine.ask(makeCall('{"n":"more"}'))).toMatchObject({
      is: 'refused',
      barred: false,
    })
    await proposed(b, makeCall('{}', { session: 'y' }))
    for (let at = OPEN_PER_TOOL_MAX; at < OPEN_PER_SESSION_MAX; at++)
      await proposed(b, makeCall('{}', { name: `tool${at}` }))
    expect(await b.engine.ask(makeCall('{}', { name: 'one more' }))).toMatchObject({
      is: 'refused',
    })
  })

  test('three denials of a tool in a session block it there until a person unblocks it', async () => {
    const b = bench()
    for (const n of [1, 2, 3]) {
      const id = await proposed(b, makeCall(`{"n":${n}}`))
      await b.engine.decide(id, { verdict: 'deny', comment: 'no' }, ada, 'terminal')
      expect(await b.engine.ask(makeCall(`{"n":${n}}`))).toEqual({
        is: 'denied',
        id,
        why: 'no',
      })
    }
    expect(await b.engine.ask(makeCall('{"n":4}'))).toMatchObject({
      is: 'refused',
      barred: true,
    })
    await proposed(b, makeCall('{"n":4}', { session: 'y' }))
    const [barred] = b.engine.barred
    expect(barred).toEqual({ session: 'x', server: 's', name: 'pay', denials: 3 })
    await b.engine.lift(barred as never, ada)
    await proposed(b, makeCall('{"n":5}'))
    expect(b.steps).toContain('lifted')
  })
})

describe('limits on requests of a tool that takes a command', () => {
  const line = (command: string, more: Partial<ApprovalSubmission> = {}) =>
    makeCall(JSON.stringify({ command, cwd: '/srv' }), {
      name: 'Bash',
      category: 'Execute',
      rest: '{"name":"Bash"}',
      ...more,
    })
  const fill = async (b: EngineBench, more: Partial<ApprovalSubmission> = {}) => {
    for (let at = 0; at < OPEN_PER_TOOL_MAX; at++)
      await proposed(b, line(`cd /srv && git push -f origin branch-${at}`, more))
  }

  test('are by what the line starts, not by the tool', async () => {
    const b = bench()
    await fill(b)
    const same = await b.engine.ask(line('git -C /srv push origin other'))
    expect(same).toMatchObject({ is: 'refused', why: expect.stringContaining('`git push`') })
    for (const command of ['git tag v1', 'npm publish', 'node -e "f()"', 'eval "$X"'])
      expect(await b.engine.ask(line(command))).toMatchObject({ is: 'pending' })
  })

  test('hold for the session as a whole', async () => {
    const b = bench()
    for (let at = 0; at < OPEN_PER_SESSION_MAX; at++) await proposed(b, line(`tool-${at} x`))
    const more = await b.engine.ask(line('another'))
    expect(more).toMatchObject({
      is: 'refused',
      why: expect.stringContaining(`${OPEN_PER_SESSION_MAX} calls of this session`),
    })
  })

  test('three denials of lines that start the same block these, and no others', async () => {
    const b = bench()
    for (const branch of ['one', 'two', 'three']) {
      const id = await proposed(b, line(`git -C /srv push -f origin ${branch} | tail -1`))
      await b.engine.decide(id, { verdict: 'deny' }, ada, 'terminal')
    }
    const more = line('cd /srv && sudo git push origin four')
    expect(await b.engine.ask(more)).toMatchObject({ is: 'refused', barred: true })
    await proposed(b, line('git tag v1'))
    await proposed(b, line('npm publish'))
    await proposed(b, line('eval "$X"'))
    const [barred] = b.engine.barred
    expect(barred).toEqual({ session: 'x', server: 's', name: 'Bash: git push', denials: 3 })
    await b.engine.lift(barred as never, ada)
    await proposed(b, more)
  })

  test('denials that the version before counted by the tool still hold', async () => {
    const b = bench()
    b.database.exec("INSERT INTO approvals_denied VALUES ('x', 's', 'Bash', 3, 0)")
    expect(await b.engine.ask(line('npm publish'))).toMatchObject({ is: 'refused', barred: true })
  })

  test('count lines that cannot be read as one, and are those of the tool if it is no Execute', async () => {
    const b = bench()
    for (let at = 0; at < OPEN_PER_TOOL_MAX; at++) await proposed(b, line(`if then ((${at}`))
    expect(await b.engine.ask(line('if then ((x'))).toMatchObject({ is: 'refused' })
    const other = { category: 'Write', session: 'z' }
    await fill(b, other)
    expect(await b.engine.ask(line('npm publish', other))).toMatchObject({
      is: 'refused',
      why: expect.stringContaining('of this tool'),
    })
  })
})

describe('whose vote counts', () => {
  test('each rule by its own approvers and quorum; no one twice; the shortest timeout', async () => {
    const b = bench()
    const money = { ...ASK, approvers: ['finance'], says: 'money' }
    const two = { ...ASK, quorum: 2, timeoutMs: 30_000, says: 'two' }
    const id = await proposed(b, makeCall('{}', { asks: [money, two] }))
    expect(b.engine.find(id)?.expiresAtMs).toBe(b.nowMs + 30_000)
    await b.engine.decide(id, yes, bob, 'console')
    await expect(b.engine.decide(id, yes, bob, 'console')).rejects.toThrow('already')
    const three = await b.engine.decide(id, yes, person('cy'), 'console')
    expect(three.state).toBe('pending')
    expect(three.asks.map(({ approvedBy }) => approvedBy)).toEqual([[], ['bob', 'cy']])
    expect((await b.engine.decide(id, yes, ada, 'console')).state).toBe('approved')
    expect(b.steps).toEqual(['proposed', 'notified', 'voted', 'voted', 'approved'])
  })

  test.each([
    ['no approver', person('eve', { roles: ['viewer'] }), {}],
    ['the one who asks', person('local', { roles: ['admin'], kind: 'system' }), {}],
    ['not of the group', bob, { approvers: ['finance'] }],
    ['the caller by name, where duties are separate', person('local'), { separateDuties: true }],
    [
      'the owner, where duties are separate',
      person('ann', { owns: ['local'] }),
      { separateDuties: true },
    ],
  ])('not that of %s', async (_what, who, ask) => {
    const b = bench()
    const id = await proposed(b, makeCall('{}', asking(ask)))
    await expect(b.engine.decide(id, yes, who, 'terminal')).rejects.toThrow(who.name)
    expect(b.engine.find(id)?.state).toBe('pending')
  })

  test('a client that accepts forms decides only if the rule allows it, and is recorded as unverified', async () => {
    const b = bench()
    const form = person('client of local', { roles: [], proof: 'client', kind: 'system' })
    const client = { channels: ['client'] } as const
    const allowed = await proposed(b, makeCall('{"n":1}', asking(client)))
    expect((await b.engine.decide(allowed, yes, form, 'client')).state).toBe('approved')
    expect(b.events.at(-1)).toMatchObject({ detail: { verified: false, channel: 'client' } })
    for (const more of [
      asking({}),
      asking({ ...client, quorum: 2 }),
      asking({ ...client, approvers: ['x'] }),
      { ...asking(client), category: 'Destructive' },
      { ...asking(client), category: 'Financial' },
    ]) {
      const id = await proposed(b, makeCall('{}', { ...more, session: JSON.stringify(more) }))
      await expect(b.engine.decide(id, yes, form, 'client')).rejects.toThrow('may not approve')
      await b.engine.decide(id, { verdict: 'deny' }, ada, 'terminal')
      await b.engine.ask(makeCall('{}', { ...more, session: JSON.stringify(more) }))
    }
  })
})

describe('edited arguments', () => {
  test('only if every rule allows it; an approval of others does not count for these', async () => {
    const b = bench()
    const shut = await proposed(b, makeCall('{"n":1}'))
    await expect(
      b.engine.decide(shut, { ...yes, args: '{"n":2}' }, ada, 'console'),
    ).rejects.toThrow('does not let')
    const id = await proposed(b, makeCall('{"n":3}', asking({ editArgs: true, quorum: 2 })))
    await b.engine.decide(id, yes, ada, 'console')
    await expect(b.engine.decide(id, { ...yes, args: '7' }, bob, 'console')).rejects.toThrow(
      'object',
    )
    const edited = await b.engine.decide(id, { ...yes, args: '{"n":4}' }, bob, 'console')
    expect(edited).toMatchObject({ state: 'pending', edited: true, args: '{"n":4}' })
    expect((await b.engine.decide(id, { ...yes, edits: 1 }, ada, 'console')).state).toBe('approved')
    const call = makeCall('{"n":3}', asking({ editArgs: true, quorum: 2 }))
    expect(await b.engine.ask(call)).toMatchObject({ is: 'approved', args: '{"n":4}' })
  })
})

describe('standing approvals', () => {
  test('exact values and given bounds, for this principal and tool only', async () => {
    const b = bench()
    const id = await proposed(b, makeCall('{"amount":5,"to":"ann","note":"x"}'))
    const bounds = { amount: { max: '10' }, note: { any: true } } as const
    const wanted = { ...yes, forAWhile: { forMs: 60_000, bounds } }
    await expect(
      b.engine.decide(
        id,
        { ...yes, forAWhile: { forMs: 1, bounds: { amount: { max: '4' } } } },
        ada,
        'console',
      ),
    ).rejects.toThrow('leaves out')
    await b.engine.decide(id, wanted, ada, 'console')
    const passes = async (args: string, more: Partial<ApprovalSubmission> = {}) =>
      (await b.engine.ask(makeCall(args, { session: args, ...more }))).is === 'standing'
    expect(await passes('{"to":"ann","amount":10.00,"note":"other"}')).toBe(true)
    b.open()
    expect(await passes('{"to":"ann","amount":0,"note":"other"}')).toBe(true)
    for (const args of [
      '{"to":"ann","amount":10.01,"note":"x"}',
      '{"to":"ann","amount":-1,"note":"x"}',
      '{"to":"eve","amount":1,"note":"x"}',
      '{"to":"ann","amount":"1","note":"x"}',
      '{"to":"ann","amount":1,"note":"x","more":1}',
      '{"to":"ann","amount":1}',
    ])
      expect([args, await passes(args)]).toEqual([args, false])
    const fits = '{"to":"ann","amount":1,"note":"x"}'
    expect(await passes(fits, { principal: { id: 'eve', kind: 'grant' } })).toBe(false)
    expect(await passes(fits, { pin: 'pin 2' })).toBe(false)
    expect(await passes(fits, asking({ says: 'rule 2' }))).toBe(false)
    b.nowMs += 60_000
    expect(await passes(fits)).toBe(false)
  })

  test('ends when a person revokes it', async () => {
    const b = bench()
    const id = await proposed(b, makeCall('{}'))
    await b.engine.decide(id, { ...yes, forAWhile: { forMs: 60_000 } }, ada, 'console')
    const [standing] = b.engine.standing
    await b.engine.endStanding(standing?.id as string, ada)
    expect([b.engine.standing, b.steps.at(-1)]).toEqual([[], 'standing-ended'])
  })
})

describe('approvers are notified', () => {
  const notify = async (b: EngineBench, channels: ApprovalRequirement['channels']) => {
    await proposed(b, makeCall('{}', asking({ channels })))
    await new Promise((resolve) => setTimeout(resolve, 5))
    return b.events.filter(({ name }) => name === 'approval-notified').map(({ detail }) => detail)
  }

  test('in the order of the rule, until one works; failures are reported', async () => {
    const b = bench()
    const tried: string[] = []
    const notifier = (channel: 'webhook' | 'email', fault?: string) =>
      b.engine.add({
        channel,
        notify: async () => {
          tried.push(channel)
          if (fault !== undefined) throw new Error(fault)
        },
      })
    notifier('webhook')
    notifier('email', 'no route')
    expect(await notify(b, ['email', 'webhook'])).toMatchObject([
      { channels: ['console', 'terminal'], ok: true },
      { channels: ['email'], ok: false, fault: 'no route' },
      { channels: ['webhook'], ok: true },
    ])
    expect(tried).toEqual(['email', 'webhook'])
    expect(b.warned).toHaveLength(1)
  })

  test('the terminal and the console always are', async () => {
    const details = await notify(bench(), ['client'])
    expect(details).toMatchObject([{ channels: ['console', 'terminal'] }])
  })
})

describe('JSON as text', () => {
  test('one canonical text for a value, in any spelling', () => {
    const spaced = (value: unknown) => JSON.stringify(value, null, 3)
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(toCanonicalJsonText(spaced(value))).toBe(toCanonicalJsonText(JSON.stringify(value)))
        expect(JSON.parse(toCanonicalJsonText(spaced(value)))).toEqual(
          JSON.parse(JSON.stringify(value)),
        )
        expect(toCanonicalJsonText(toCanonicalJsonText(spaced(value)))).toBe(
          toCanonicalJsonText(spaced(value)),
        )
      }),
    )
    expect(toCanonicalJsonText('{"b":1,"a":[1.0,1e2,-0]}')).toBe('{"a":[1.0,1e2,-0],"b":1}')
    expect(toCanonicalJsonText('"\\u0041\\/"')).toBe('"A/"')
  })

  test('secrets by name, below it, and by shape', () => {
    const key = `sk-ant-${'a'.repeat(30)}`
    const args = `{"a":"${key} x","apiKey":{"deep":["v"]},"n":1.10,"pin":1234}`
    expect(maskText(args).text).toBe(
      '{"a":"[masked: 37 characters] x","apiKey":{"deep":["[masked: 1 character]"]},"n":1.10,"pin":"[masked: 4 characters]"}',
    )
    expect(maskText('{"url":"https://u:pw@host/"}').text).not.toContain('pw')
  })
})
