// Small arbitraries for the engine's properties: valid documents, tools, calls, facts, usage. Built
// from few words, so that rules overlap and counterexamples shrink to a few lines.

import { ACTIONS, type Action } from '@sluice/policy/calls/actions'
import type { Call, Facts } from '@sluice/policy/calls/call'
import type { LimitCharge, LimitUsage } from '@sluice/policy/calls/counters'
import { CATEGORIES, type KnownTool } from '@sluice/policy/calls/tools'
import { sampleFacts } from '@sluice/policy/cases/sample-facts'
import { type CompileOptions, compile } from '@sluice/policy/compile/compile'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import type { JsonObject } from '@sluice/policy/values/json'
import fc from 'fast-check'

export interface RuleText {
  action?: Action
  otherwise?: Action
  when?: string
  rate_limit?: object
  spend_limit?: object
  over?: string[]
  mode?: 'shadow'
}
export interface GuardrailText extends RuleText {
  name: string
  match?: Record<string, string[]>
}
export interface DocumentText {
  version: 1
  default: Action
  mode?: 'shadow'
  categories: Record<string, RuleText>
  tools: Record<string, RuleText>
  methods: Record<string, RuleText>
  resources: Record<string, RuleText>
  guardrails: GuardrailText[]
  classify: Record<string, string>
}

const inputSchema = {
  type: 'object',
  properties: { n: { type: 'integer' }, d: { type: 'number' }, s: { type: 'string' } },
}

/** Two servers, three tools each. */
export const TOOLS: readonly KnownTool[] = ['a', 'b'].flatMap((server) => [
  { definition: { server, name: 'get_x', inputSchema }, category: 'Read', risk: 'low' },
  { definition: { server, name: 'set_x', inputSchema }, category: 'Write', risk: 'medium' },
  { definition: { server, name: 'del_y', inputSchema }, category: 'Destructive', risk: 'high' },
])

const OF_FACTS = [
  'session.calls > 3',
  'principal.id == "p1"',
  '"g" in principal.groups',
  'session.saw.private',
  'agent == null',
  'agent.depth > 1',
  'principal.claims.k == 1',
  'tool.category != "Read"',
]
const OF_ARGS = [
  'args.n > 3',
  'args.s == "x" || session.calls > 3',
  'has(args.d) && args.d < 1.5',
  'args.n < 10 && args.s != ""',
  'size(args.s) < 3',
]

export const action = fc.constantFrom(...ACTIONS)
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
const per = fc.constantFrom('session', 'principal', 'agent', 'everyone', 'args.s', [
  'tool',
  'session',
])
const rateLimit = fc.record({ max: fc.constantFrom(1, 5), window: fc.constantFrom(1, '1h'), per })
const spendLimit = fc.record({
  amount: fc.constantFrom('args.n', 'args.d', 'args.n * args.d'),
  max: fc.constantFrom(1, 7.5),
  window: fc.constant(60),
  per,
})
const fields = {
  when: some(fc.constantFrom(...OF_FACTS, ...OF_ARGS)),
  rate_limit: some(rateLimit),
  spend_limit: some(spendLimit),
  mode: fc.option(fc.constant('shadow' as const), { nil: undefined, freq: 5 }),
}
const shadowless = { ...fields, mode: fc.constant(undefined) }

/** Removes what the loader would reject as having no effect. */
function tidy<T extends RuleText>(rule: T, words: readonly (Action | undefined)[]): T {
  const tidied = { ...rule }
  const passes = words.some((word) => word !== 'deny' && word !== 'hide')
  const readsArgs = rule.when?.includes('args')
  if (words.includes('hide') && readsArgs) delete tidied.when
  if (tidied.when === undefined || rule.action === rule.otherwise) {
    delete tidied.when
    delete tidied.otherwise
  }
  const left = tidied.when === undefined ? words.slice(0, 1) : words
  if (!passes || left.every((word) => word === 'deny' || word === 'hide')) {
    delete tidied.rate_limit
    delete tidied.spend_limit
  }
  return JSON.parse(JSON.stringify(tidied)) as T
}

const ruleOf = (
  from: typeof fields | typeof shadowless,
  over: fc.Arbitrary<string[] | undefined>,
) =>
  fc
    .record({ action, otherwise: action, ...from, over })
    .map((rule) => tidy(rule as RuleText, [rule.action, rule.otherwise]))
const noOver = fc.constant(undefined)
const over = some(fc.constantFrom<string[]>(['Read'], ['Write', 'Destructive']))

export const guardrail: fc.Arbitrary<GuardrailText> = fc
  .record({
    name: fc.constantFrom('g0', 'g1', 'g2', 'g|3', 'g/4'),
    action: some(fc.constantFrom('deny', 'hide', 'require_approval') as fc.Arbitrary<Action>),
    match: some(
      fc.constantFrom<Record<string, string[]>>(
        { categories: ['Read', 'Execute'] },
        { tools: ['a/*', '*/set_x'] },
        { servers: ['b'] },
        { methods: ['tools/call'] },
      ),
    ),
    ...fields,
  })
  .map((one) => {
    const tidied = tidy(one as GuardrailText, [one.action])
    const does = tidied.action ?? tidied.rate_limit ?? tidied.spend_limit
    return does === undefined ? { ...tidied, action: 'deny' } : tidied
  })

const GLOBS = ['*/*', 'a/*', 'a/get_*', '*/get_x', '*/*_x', '?/del_*', 'b/*']
const NAMES = TOOLS.map(({ definition }) => `${definition.server}/${definition.name}`)
const dictionary = <T>(keys: readonly string[], value: fc.Arbitrary<T>, max = 4) =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...keys), value), {
      selector: ([key]) => key,
      maxLength: max,
    })
    .map((entries) => Object.fromEntries(entries) as Record<string, T>)

const documentOf = (from: typeof fields | typeof shadowless): fc.Arbitrary<DocumentText> => {
  const plain = ruleOf(from, noOver)
  const globbed = ruleOf(from, over)
  const merge = ([exact, globs]: [Record<string, RuleText>, Record<string, RuleText>]) => ({
    ...exact,
    ...globs,
  })
  return fc.record({
    version: fc.constant(1 as const),
    default: action,
    categories: dictionary(CATEGORIES, plain),
    tools: fc.tuple(dictionary(NAMES, plain, 2), dictionary(GLOBS, globbed)).map(merge),
    methods: dictionary(['resources/read', 'sampling/createMessage'], plain, 1),
    resources: fc
      .tuple(dictionary(['a/r://x'], plain), dictionary(['a/*', '*/r:*'], globbed))
      .map(merge),
    guardrails: fc.uniqueArray(guardrail, { selector: ({ name }) => name, maxLength: 3 }),
    classify: dictionary([...NAMES, 'a/*', '*/*_x'], fc.constantFrom(...CATEGORIES), 2),
  })
}

/** Documents of every kind, and such without anything in shadow. */
export const document = documentOf(fields)
export const plainDocument = documentOf(shadowless).map((one) => ({
  ...one,
  guardrails: one.guardrails.map(({ mode: _, ...rest }) => rest as GuardrailText),
}))

export function compiled(document: object, options: CompileOptions = {}): CompiledPolicy {
  const { policy, problems } = compile({ file: 'p', text: JSON.stringify(document) }, options)
  if (policy === undefined)
    throw new Error(
      `${problems.map(({ message }) => message).join('; ')}: ${JSON.stringify(document)}`,
    )
  return policy
}

export const args: fc.Arbitrary<JsonObject> = fc
  .record({
    n: some(fc.constantFrom(0, 1, 3, 4, 20, 'x', -1)),
    d: some(fc.constantFrom(0.1, 1, 7.5, 1e30, null)),
    s: some(fc.constantFrom('', 'x', 'long text', 5)),
    extra: fc.option(fc.constant(true), { nil: undefined, freq: 8 }),
  })
  .map((one) => JSON.parse(JSON.stringify(one)) as JsonObject)

export interface SampleRequest {
  readonly call: Call
  readonly facts: Facts
}

const facts = fc.record({
  principal: fc.record({
    id: fc.constantFrom('p1', 'p2'),
    kind: fc.constant('oauth'),
    groups: fc.constantFrom([], ['g']),
    claims: fc.constantFrom<JsonObject>({}, { k: 1 }, { k: 'x' }),
  }),
  session: fc.record({ calls: fc.constantFrom(0, 9), saw: fc.constantFrom([], ['private']) }),
  agent: fc.constantFrom(null, { id: 'a1' }, { id: 'a2', depth: 2 }),
})

export const asked: fc.Arbitrary<SampleRequest> = fc
  .tuple(
    fc.constantFrom(...TOOLS),
    fc.constantFrom('tools/call', 'tools/call', 'tools/call', 'resources/read'),
    args,
    facts,
  )
  .map(([tool, method, args, facts]) => {
    const isTool = method === 'tools/call'
    const { server, name } = tool.definition
    const call = { server, name: isTool ? name : 'r://x', method, args }
    return { call, facts: sampleFacts(isTool ? tool : undefined, facts) }
  })

/** Some counters are full: which, depends on the key alone, in shadow or not. */
export const usage: fc.Arbitrary<LimitUsage> = fc.nat({ max: 1_000 }).map((salt) => ({
  look(take: LimitCharge) {
    const hash = computeHash(`${salt} ${take.key.replace(/^shadow:/, '')}`)
    const passes = hash % 3 !== 0 && take.amount.units < take.max.units * 1_000n
    return { passes, remaining: take.max, retryAfterMs: passes ? 0 : hash % 5 }
  },
  toString: () => `usage ${salt}`,
}))

function computeHash(text: string): number {
  let hash = 7
  for (const letter of text) hash = (hash * 31 + letter.charCodeAt(0)) % 1_000_003
  return hash
}
