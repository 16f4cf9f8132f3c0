// Claims with `after` and `when`: proved, or the shortest sequence of calls that the engine itself
// allows. Soundness: no random walk reaches what is reported as proved.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  args,
  asked,
  compiled,
  document,
  TOOLS,
} from '../../../../test/support/arbitrary-policies.ts'
import { runs } from '../../../../test/support/runs.ts'
import { ACTIONS, type Action } from '../calls/actions.ts'
import type { Category, KnownTool } from '../calls/tools.ts'
import { MemoryCounters } from '../counters/memory-counters.ts'
import { decide } from '../decide/decide.ts'
import { evaluate } from '../expression/evaluate/evaluate.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { bindClaim } from './find-call.ts'
import { isBroken, type Property, readProperties } from './properties.ts'
import { type PropertyProof, prove, type ToolProof } from './prove.ts'
import { sampleFacts } from './sample-facts.ts'

const known = (id: string, category: Category, properties: object = {}): KnownTool => {
  const [server = '', name = ''] = id.split('/')
  const inputSchema = { type: 'object', properties: properties as never }
  return { definition: { server, name, inputSchema }, category, risk: 'low' }
}
const KNOWN = [
  known('mail/read', 'Read'),
  known('files/read', 'Read', { path: { type: 'string' } }),
  known('web/fetch', 'Read', { url: { type: 'string' } }),
  known('mail/send', 'Write', { to: { type: 'string' }, copies: { type: 'integer' } }),
  known('shop/refund', 'Financial', { amount: { type: 'number' }, note: {} }),
]
const LABELS = {
  'mail/read': ['private', 'untrusted'],
  'files/read': ['private'],
  'web/fetch': ['untrusted'],
}

function property(claim: string): Property {
  const { properties, problems } = readProperties({ file: 'p', text: `properties: [{ ${claim} }]` })
  if (properties === undefined) throw new Error(problems.map((one) => one.message).join())
  return properties[0] as Property
}

function proofOf(text: object, claim: string, tools = KNOWN): PropertyProof {
  const policy = compiled({ version: 1, default: 'allow', labels: LABELS, ...text })
  const proof = prove(policy, property(claim), tools)
  for (const one of proof.tools) expectReplayed(policy, proof.property, one, tools)
  return proof
}

/** Every call of the sequence is allowed with the labels that those before it brought. */
function expectReplayed(
  policy: CompiledPolicy,
  { after = [] }: Property,
  proof: ToolProof,
  tools: readonly KnownTool[],
): void {
  if (proof.result !== 'refuted') return
  const saw = new Set<string>()
  const callers = new Set<string>()
  const decideOn = (id: string, { args: given, facts, nowMs }: (typeof proof)['sample']) => {
    const tool = tools.find(({ definition: one }) => `${one.server}/${one.name}` === id)
    const { server = '', name = '' } = tool?.definition ?? {}
    if (proof.sequence) expect(facts.session?.saw).toEqual([...saw])
    callers.add(JSON.stringify([facts.principal, facts.agent]))
    const call = { server, name, method: 'tools/call', args: given }
    const now = { wallMs: nowMs, monotonicMs: 0 }
    return decide(policy, call, sampleFacts(tool, facts), new MemoryCounters(), now)
  }
  for (const { tool, sample, brings } of proof.sequence ?? []) {
    if (!tool.includes(' ')) expect(decideOn(tool, sample).action).toBe('allow')
    for (const label of brings) saw.add(label)
  }
  if (proof.sequence) expect([...saw]).toEqual(expect.arrayContaining([...after]))
  expect(decideOn(proof.tool, proof.sample)).toMatchObject({ action: proof.action })
  expect(callers.size).toBe(1)
}

const ids = (proof: PropertyProof) =>
  proof.tools.map((one) =>
    one.result === 'refuted' ? one.sequence?.map(({ tool }) => tool) : one.result,
  )
const guard = (more: object) => ({
  guardrails: [{ name: 'g', match: { tools: ['mail/send'] }, action: 'require_approval', ...more }],
})
const SEND = 'tool: mail/send, action: allow'

describe('after labels', () => {
  test.each([
    ['a guardrail on both', guard({ when: 'session.saw.private && session.saw.untrusted' })],
    ['on one of them', guard({ when: 'session.saw.untrusted' })],
    ['on neither, and no call', { tools: { 'mail/send': 'deny' } }],
    [
      'one of the labels cannot be had without a person',
      {
        tools: {
          'mail/read': 'require_approval',
          'files/read': { action: 'allow', when: '!session.saw.untrusted' },
          'web/fetch': { action: 'allow', when: '!session.saw.private' },
        },
      },
    ],
  ])('proved: %s', (_what, text) => {
    expect(ids(proofOf(text, `never: { ${SEND}, after: [private, untrusted] }`))).toEqual([
      'proved',
    ])
  })

  test.each([
    ['nothing holds it', {}, ['mail/read']],
    ['the shortest', { tools: { 'mail/read': 'deny' } }, ['files/read', 'web/fetch']],
    [
      'in the only order that passes',
      {
        tools: {
          'mail/read': 'deny',
          'files/read': { action: 'allow', when: 'session.saw.untrusted' },
        },
      },
      ['web/fetch', 'files/read'],
    ],
    [
      'by arguments that a condition lets through',
      guard({ when: 'session.saw.private && !args.to.endsWith("@us")' }),
      ['mail/read'],
    ],
    [
      'as one caller',
      {
        tools: {
          'mail/read': { action: 'allow', when: '"staff" in principal.groups' },
          'files/read': 'deny',
        },
      },
      ['mail/read'],
    ],
  ])('refuted: %s', (_what, text, sequence) => {
    expect(ids(proofOf(text, `never: { ${SEND}, after: [private, untrusted] }`))).toEqual([
      sequence,
    ])
  })

  test('callers that exclude each other make no sequence', () => {
    const text = {
      tools: {
        'mail/read': { action: 'allow', when: 'principal.id == "a"' },
        'mail/send': { action: 'allow', when: 'principal.id == "b"' },
      },
      labels: { 'mail/read': ['private'] },
    }
    const proof = proofOf(text, `never: { ${SEND}, after: private }`)
    expect(proof.tools).toMatchObject([
      { result: 'not proved', branch: 'mail/read, then /tools/mail~1send true gives allow' },
    ])
  })

  test('any answer can bring what the guard finds', () => {
    const text = guard({ when: 'session.saw.injection' })
    expect(ids(proofOf(text, `never: { ${SEND}, after: injection }`))).toEqual(['proved'])
    expect(ids(proofOf({}, `never: { ${SEND}, after: secret }`))).toEqual([['mail/read']])
  })

  test('a resource or prompt brings labels without a tool', () => {
    const labels = { 'files/file:*': ['private'], 'web/*': ['untrusted'] }
    const claim = `never: { ${SEND}, after: [private] }`
    expect(ids(proofOf({ labels }, claim))).toEqual([['resources/read files/file:x']])
    expect(ids(proofOf({ labels, methods: { 'resources/read': 'deny' } }, claim))).toEqual([
      'proved',
    ])
    const list = `never: { ${SEND}, after: untrusted }`
    expect(ids(proofOf({ labels, tools: { 'web/*': 'deny' } }, list))).toEqual([
      ['resources/list web/'],
    ])
  })

  test('`always`, and a claim with `when` too', () => {
    const text = guard({ when: 'session.saw.private', action: 'deny' })
    const claim = 'always: { tool: mail/send, after: private, action: deny }'
    expect(proofOf(text, claim).result).toBe('proved')
    const narrow = guard({ when: 'session.saw.private && args.copies > 3' })
    const many = `never: { ${SEND}, after: private, when: args.copies >= 4 }`
    expect(proofOf(narrow, many).result).toBe('proved')
    const few = `never: { ${SEND}, after: private, when: args.copies >= 3 }`
    expect(proofOf(narrow, few).tools).toMatchObject([
      { result: 'refuted', sample: { args: { copies: 3 } }, sequence: [{ tool: 'mail/read' }] },
    ])
  })

  test('more sets of labels than are followed are reported', () => {
    const names = Array.from({ length: 13 }, (_, n) => `t${n}`)
    const tools = [...names.map((name) => known(`many/${name}`, 'Read')), ...KNOWN]
    const labels = Object.fromEntries(names.map((name) => [`many/${name}`, [name]]))
    const when = names.map((name) => `session.saw.${name}`).join(' || ')
    const proof = proofOf({ labels, ...guard({ when }) }, `never: { ${SEND}, after: t0 }`, tools)
    expect(proof.tools).toMatchObject([
      { result: 'not proved', branch: 'more than 4096 sets of labels can be reached' },
    ])
  })
})

describe('claims that name arguments', () => {
  const refund = (more: object) => ({ tools: { 'shop/refund': { action: 'allow', ...more } } })
  const limited = refund({ when: 'args.amount <= 5000.0', otherwise: 'require_approval' })
  const claim = (when: string, action = 'allow') =>
    `never: { tool: shop/refund, when: '${when}', action: ${action} }`

  test.each([
    [limited, claim('args.amount > 5000.0')],
    [limited, claim('5000 < args.amount')],
    [limited, claim('!has(args.amount)')],
    [limited, claim('args.amount in [5001, 6000]')],
    [limited, "always: { tool: shop/refund, when: 'args.amount == 3', action: allow }"],
    [refund({ when: 'args.note == "ok"' }), claim('args.note != "ok"')],
    [refund({ when: 'args.note' }), claim('!args.note')],
    [refund({ when: 'has(args.note) && args.note in ["a", "b"]' }), claim('args.note == "c"')],
    [
      refund({ when: 'url(args.note).host == "x"' }),
      claim('url(args.note).host != "y" && !(url(args.note).host == "x")'),
    ],
    [refund({ when: 'args.amount > -1.0 ? args.amount < 3.0 : false' }), claim('args.amount >= 3')],
  ])('proved: %j %s', (text, claim) => {
    expect(proofOf(text, claim).result).toBe('proved')
  })

  test.each([
    [limited, claim('args.amount > 4999.0'), { amount: 5000 }],
    [limited, claim('args.amount > 1', 'require_approval'), { amount: 5001 }],
    [refund({ when: 'args.note != "no"' }), claim('args.note == "yes"'), { note: 'yes' }],
    [{}, claim('!has(args.note)'), {}],
  ])('refuted: %j %s', (text, claim, given) => {
    expect(proofOf(text, claim).tools).toMatchObject([
      { result: 'refuted', sample: { args: given } },
    ])
  })

  test('too many values are reported; an invalid condition is a problem of the file', () => {
    const many = Array.from({ length: 40 }, (_, n) => n)
    const when = `args.amount in ${JSON.stringify(many)} && args.note in ${JSON.stringify(many)}`
    expect(proofOf({}, claim(when)).result).toBe('refuted')
    const none = proofOf({ default: 'deny' }, claim(when))
    expect(none.tools).toMatchObject([
      { result: 'not proved', branch: expect.stringContaining('more than 4096 combinations') },
    ])
    const { problems } = readProperties({ file: 'p', text: `properties: [{ ${claim('nope')} }]` })
    expect(problems).toMatchObject([{ code: 'POLICY_EXPRESSION' }])
  })
})

describe('for every document', () => {
  const NAMES = TOOLS.map(({ definition: { server, name } }) => `${server}/${name}`)
  const labels = fc.dictionary(
    fc.constantFrom(...NAMES, 'a/*', '*/get_*'),
    fc.uniqueArray(fc.constantFrom('private', 'untrusted'), { minLength: 1 }),
    { maxKeys: 4, noNullPrototype: true },
  )
  const laws = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('l0', 'l1', 'l2'),
      action: fc.constantFrom<Action>('deny', 'require_approval'),
      when: fc.constantFrom(
        'session.saw.private && session.saw.untrusted',
        '!session.saw.untrusted',
        'session.saw.untrusted || args.n > 3',
        'session.saw.private ? args.n < 3 : session.calls > 2',
      ),
    }),
    { selector: ({ name }) => name, maxLength: 3 },
  )
  const claim = fc.record({
    kind: fc.constantFrom('never', 'always'),
    action: fc.constantFrom(...ACTIONS),
    after: fc.constantFrom('', ', after: private', ', after: [private, untrusted]'),
    when: fc.constantFrom(
      '',
      'args.n > 3',
      '!(args.n >= 4) || args.s == "x"',
      'args.n in [1, 4, 20] && has(args.s)',
      'args.s != "x" && args.d < 1.5',
      'size(args.s) < 3',
    ),
  })
  const walk = fc.array(fc.tuple(fc.nat(TOOLS.length - 1), args, fc.nat(5)), {
    minLength: 25,
    maxLength: 25,
  })

  test('no random walk finds what is proved, and a sequence replays', () => {
    let denied = 0
    const honest = fc.property(
      fc.record({ document, labels, laws, claim }),
      fc.tuple(asked, fc.array(walk, { minLength: 3, maxLength: 3 })),
      ({ document: text, labels: brought, laws: more, claim }, [{ facts }, walks]) => {
        const policy = compiled({
          ...text,
          labels: brought,
          guardrails: [...text.guardrails, ...more],
        })
        const when = claim.when === '' ? '' : `, when: '${claim.when}'`
        const about = property(`${claim.kind}: { action: ${claim.action}${claim.after}${when} }`)
        const proof = prove(policy, about, TOOLS)
        for (const one of proof.tools) expectReplayed(policy, about, one, TOOLS)
        for (const steps of walks) {
          const saw = new Set<string>()
          for (const [index, given, calls] of steps) {
            const tool = TOOLS[index] as KnownTool
            const { server, name } = tool.definition
            const call = { server, name, method: 'tools/call', args: given }
            const now = { wallMs: 0, monotonicMs: 0 }
            const session = { ...facts.session, saw: [...saw], calls }
            const own = { ...facts, tool, session }
            const { action } = decide(policy, call, own, new MemoryCounters(), now)
            const program = bindClaim(about, tool)
            const context = { call, facts: own, now, args: given, category: tool.category }
            const isAbout =
              (about.after ?? []).every((label) => saw.has(label)) &&
              (about.when === undefined ||
                (program !== undefined &&
                  evaluate(program, { ...context, assumed: undefined }).is === 'true'))
            if (isAbout && proof.tools[index]?.result === 'proved') {
              denied++
              expect(isBroken(about)(action)).toBe(false)
            }
            if (action === 'allow')
              for (const label of policy.labels.all(server, name).flat()) saw.add(label)
          }
        }
      },
    )
    fc.assert(honest, runs(80))
    expect(denied).toBeGreaterThan(0)
  })
})
