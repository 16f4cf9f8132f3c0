// `destinations` overrides what the names of arguments say, and no document takes an argument out of the
// reach of its base policy.

import { describe, expect, test } from 'vitest'
import { compiled } from '../../../../test/support/arbitrary-policies.ts'
import type { Category, KnownTool } from '../calls/tools.ts'
import { sampleFacts } from '../cases/sample-facts.ts'
import { MemoryCounters } from '../counters/memory-counters.ts'
import type { JsonObject } from '../values/json.ts'
import { decide } from './decide.ts'

const NOW = { wallMs: 0, monotonicMs: 0 }
const LONG = 'please have a look at this as soon as you can because we are waiting for it'

function toolWith(properties: JsonObject, category: Category): KnownTool {
  const definition = { server: 's', name: 'find', inputSchema: { type: 'object', properties } }
  return { definition, category, risk: 'medium' }
}

describe('what `destinations` says of arguments', () => {
  const STRANGER = 'mallory'
  const decideWith = (
    said: Readonly<Record<string, object>>,
    args: JsonObject,
    { category = 'Write' as Category, base = undefined as object | undefined, schema = {} } = {},
  ) => {
    const house = base === undefined ? undefined : compiled(base)
    const document = { version: 1, default: 'allow', protect: 'balanced', destinations: said }
    const policy = { ...compiled(document), ...(house && { base: house }) }
    const answers = [`${LONG} see ${STRANGER} 77`]
    const facts = sampleFacts(toolWith(schema, category), { answers })
    const call = { server: 's', name: 'find', method: 'tools/call', args }
    return decide(policy, call, facts, new MemoryCounters(), NOW).action
  }
  const held = 'require_approval'

  test.each<[string, Record<string, string>, JsonObject, string]>([
    ['free text that names a recipient', { message: 'recipient' }, { message: STRANGER }, held],
    ['without it', {}, { message: STRANGER }, 'allow'],
    ['a place that is an id', { room: 'id' }, { room: STRANGER }, held],
    ['a recipient that is a text', { to: 'text' }, { to: STRANGER }, 'allow'],
    ['addresses in such a text', { to: 'text' }, { to: 'x@evil.test' }, held],
    ['an argument that decides nothing', { to: 'none' }, { to: 'x@evil.test' }, 'allow'],
    ['an address that stands nowhere', { ref: 'address' }, { ref: 'made-up' }, held],
    ['a number', { count: 'id' }, { count: 77 }, held],
    ['a number that is a text', { id: 'text' }, { id: 77 }, 'allow'],
    ['all items of a list', { notes: 'recipient' }, { notes: ['x', [STRANGER]] }, held],
    ['all members of an object', { about: 'recipient' }, { about: { text: STRANGER } }, held],
    ['names of members', { about: 'recipient' }, { about: { [STRANGER]: 1 } }, held],
    ['the innermost word', { a: 'id', 'a.b': 'none' }, { a: { b: STRANGER } }, 'allow'],
    ['a name with a dot is no path', { 'a.b': 'none' }, { 'a.b': STRANGER }, held],
    ['a long text', { body: 'recipient' }, { body: `${LONG} see ${STRANGER} 77` }, held],
    ['an address in it', { name: 'id' }, { name: 'see http://evil.test x@ok.test' }, held],
  ])('%s', (_what, said, args, action) => {
    expect(decideWith({ 's/find': said }, args)).toBe(action)
  })

  test('words that the tool declares are checked if the policy says so', () => {
    const schema = { kind: { enum: [STRANGER] } }
    expect(decideWith({}, { kind: STRANGER }, { schema })).toBe('allow')
    expect(decideWith({ 's/*': { kind: 'id' } }, { kind: STRANGER }, { schema })).toBe(held)
  })

  test('a read that sends what it is given', () => {
    const category = 'Read'
    const args = { who: STRANGER }
    expect(decideWith({}, args, { category })).toBe('allow')
    expect(decideWith({ 's/*': { who: 'id' } }, args, { category })).toBe('allow')
    expect(decideWith({ 's/*': { who: 'recipient' } }, args, { category })).toBe(held)
    const url = { url: 'http://evil.test' }
    expect(decideWith({}, url, { category })).toBe(held)
    expect(decideWith({ 's/*': { url: 'none' } }, url, { category })).toBe('allow')
    const many = { who: Array.from({ length: 5_000 }, () => 'x') }
    expect(decideWith({}, many, { category })).toBe('allow')
    expect(decideWith({ 's/*': { who: 'recipient' } }, many, { category })).toBe(held)
  })

  test('of several words the strictest counts', () => {
    const said = { 's/*': { message: 'none' }, 's/find': { message: 'recipient' } }
    expect(decideWith(said, { message: STRANGER })).toBe(held)
  })

  test.each<[string, Record<string, string>, Record<string, string>, JsonObject, string]>([
    ['takes nothing out of its reach', { to: 'none' }, {}, { to: STRANGER }, held],
    ['but for what it says itself', { to: 'none' }, { to: 'none' }, { to: STRANGER }, 'allow'],
    ['may be stricter', { message: 'id' }, { message: 'none' }, { message: STRANGER }, held],
    ['is tightened by it', {}, { message: 'recipient' }, { message: STRANGER }, held],
    ['not within an object', { 'a.b': 'none' }, { a: 'recipient' }, { a: { b: STRANGER } }, held],
  ])('beside a base policy a document %s', (_what, own, house, args, action) => {
    const base = {
      version: 1,
      default: 'allow',
      protect: 'balanced',
      destinations: { 's/*': house },
    }
    expect(decideWith({ 's/*': own }, args, { base })).toBe(action)
  })

  test('the reason names it', () => {
    const document = { version: 1, default: 'allow', protect: 'balanced' }
    const policy = compiled({ ...document, destinations: { 's/find': { message: 'recipient' } } })
    const facts = sampleFacts(toolWith({}, 'Write'), { answers: [`${LONG} see ${STRANGER}`] })
    const call = { server: 's', name: 'find', method: 'tools/call', args: { message: STRANGER } }
    expect(decide(policy, call, facts, new MemoryCounters(), NOW).reason).toContain(
      'the recipient `args.message` (by `destinations`) (`mallory`) stands in the text of an answer',
    )
  })
})
