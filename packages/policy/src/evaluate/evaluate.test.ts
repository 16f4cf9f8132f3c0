import { expect, test } from 'vitest'
import { compile } from '../compile/compile.ts'
import { MemoryCounters } from '../counters/memory-counters.ts'
import { evaluate, PolicyDocumentError } from './evaluate.ts'

const SHOP = `
version: 1
default: deny
categories: { Read: allow }
tools:
  shop/create_refund:
    action: allow
    when: args.amount <= 50
    otherwise: require_approval
    spend_limit: { amount: args.amount, max: 100, window: 1h, per: principal }
  shop/close: { action: allow, when: 'now < timestamp("2030-01-01T00:00:00Z")' }
  shop/note: { action: allow, when: "!call.secret" }
  shop/staff: { action: allow, when: "'staff' in principal.groups" }
`

function actionOf(...args: Parameters<typeof evaluate>): string {
  const { action, code } = evaluate(...args)
  return action === 'deny' ? code : action
}

test('decides a call that is given by name', () => {
  expect(actionOf(SHOP, { tool: 'shop/create_refund', args: { amount: 20 } })).toBe('allow')
  expect(actionOf(SHOP, { tool: 'shop/create_refund', args: { amount: 90 } })).toBe(
    'require_approval',
  )
  expect(actionOf(SHOP, { tool: 'shop/list_orders', category: 'Read' })).toBe('allow')
  expect(actionOf(SHOP, { tool: 'shop/list_orders' })).toBe('DENIED')
})

test('decides by the definition of a tool if there is one', () => {
  const properties = { amount: { type: 'integer' } }
  const definition = {
    server: 'shop',
    name: 'create_refund',
    inputSchema: { type: 'object', properties },
  }
  const tool = { definition, category: 'Financial', risk: 'critical' } as const
  expect(actionOf(SHOP, { tool, args: { amount: 20 } })).toBe('allow')
  expect(actionOf(SHOP, { tool, args: { amount: 20, Amount: 90 } })).toBe('require_approval')
})

test('what is left out is never taken in favour of the caller', () => {
  expect(actionOf(SHOP, { tool: 'shop/close' })).toBe('DENIED')
  expect(actionOf(SHOP, { tool: 'shop/close' }, { now: 0 })).toBe('allow')
  expect(actionOf(SHOP, { tool: 'shop/note' })).toBe('DENIED')
  expect(actionOf(SHOP, { tool: 'shop/note', holdsSecret: true })).toBe('DENIED')
  expect(actionOf(SHOP, { tool: 'shop/note', holdsSecret: false })).toBe('allow')
  expect(actionOf(SHOP, { tool: 'shop/staff' })).toBe('DENIED')
  const principal = { groups: ['staff'] }
  expect(actionOf(SHOP, { tool: 'shop/staff', principal, agent: null, session: {} })).toBe('allow')
})

test('charges limits to the counters that it is given', () => {
  const { policy } = compile({ file: 'policy', text: SHOP })
  const counters = new MemoryCounters()
  const refund = { tool: 'shop/create_refund', args: { amount: 40 } }
  const at = (now: number): string => actionOf(policy ?? '', refund, { counters, now })
  expect([at(0), at(1), at(2), at(3_600_000)]).toEqual(['allow', 'allow', 'SPEND_LIMITED', 'allow'])
  expect(actionOf(SHOP, refund, { now: { wallMs: 0, monotonicMs: 0 } })).toBe('allow')
  // Without a time, no window ever ends.
  const timeless = new MemoryCounters()
  const again = (): string => actionOf(SHOP, refund, { counters: timeless })
  expect([again(), again(), again()]).toEqual(['allow', 'allow', 'SPEND_LIMITED'])
})

test('throws if the text has errors or the tool has no server', () => {
  const broken = (): unknown => evaluate('version: 1\ndefault: alow', { tool: 'a/b' })
  expect(broken).toThrow(PolicyDocumentError)
  expect(broken).toThrow(/policy:2:10: .*alow/)
  expect(() => evaluate(SHOP, { tool: 'refund' })).toThrow(/`refund` is not `<server>\/<tool>`/)
})
