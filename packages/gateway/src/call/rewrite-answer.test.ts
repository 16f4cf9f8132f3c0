import { SessionVault } from '@sluice/access/identity/sessions/session-vault'
import { combineAnswerRules } from '@sluice/policy/model/answer-rule'
import { runSteps } from '@sluice/policy/structures/steps'
import type { JsonValue } from '@sluice/policy/values/json'
import { expect, test } from 'vitest'
import { PLACEHOLDER_STEPS_MAX } from '../shared/limits.ts'
import { type RewriteContext, rewriteAnswerSteps } from './rewrite-answer.ts'

const KEY = `AKIA${'QYLPMN5HHHFPZAM2'}`

function contextOf(schema: JsonValue | undefined, links?: string[]): RewriteContext {
  const rule = {
    deny: [],
    redact: ['secret' as const, 'card' as const],
    mark: [],
    seal: undefined,
    maxBytes: undefined,
    maxTokens: undefined,
    links,
  }
  const rules = combineAnswerRules([rule])
  return { rules, vault: new SessionVault(), sources: [], schema, effort: 'in slices' }
}

function rewrite(result: object, schema?: JsonValue) {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, result })
  return runSteps(rewriteAnswerSteps(text, contextOf(schema)))
}

const items = (schema: JsonValue): JsonValue => ({
  type: 'object',
  properties: { items: { type: 'array', items: schema } },
})

test('a name with a line break does not lend its places to another text', () => {
  const padding = 'x'.repeat(40)
  const rewritten = rewrite({
    structuredContent: { [`a\n${padding}`]: KEY, a: `${padding}\n${KEY}` },
  })
  expect(rewritten).toMatchObject({ status: 'passes' })
  expect(JSON.stringify(rewritten)).not.toContain(KEY)
})

test('a schema that takes too many steps withholds the answer: all texts share one budget', () => {
  const fits = (count: number, schema: JsonValue) =>
    rewrite({ structuredContent: { items: Array<string>(count).fill(KEY) } }, items(schema)).status
  expect(fits(1_000, { type: 'string' })).toBe('passes')
  expect(fits(PLACEHOLDER_STEPS_MAX, { type: 'string' })).toBe('denied')
  expect(fits(1, { $ref: `#/${'a/'.repeat(5_000)}` })).toBe('denied')
  expect(fits(1, { allOf: Array<JsonValue>(1_000).fill({ type: 'string' }) })).toBe('denied')
})

test('a card is redacted as a number too, also as a float', () => {
  const text = `{"result":{"rows":[4111111111111111.0,4.111111111111111e15,4111111111111111.5]}}`
  const rewritten = runSteps(rewriteAnswerSteps(text, contextOf(undefined)))
  expect(rewritten).toMatchObject({
    text: '{"result":{"rows":["[card ****1111]","[card ****1111]",4111111111111111.5]}}',
  })
})

test.each([
  `[${KEY}](https://evil.example/)`,
  `[a ${KEY} b](https://evil.example/ "t")`,
  `[${KEY}]: https://evil.example/`,
  `<a title="${KEY}" href="https://evil.example/">`,
])('a secret in what is around a removed link is redacted: %s', (text) => {
  const message = JSON.stringify({ result: { content: [{ type: 'text', text }] } })
  const rewritten = runSteps(rewriteAnswerSteps(message, contextOf(undefined, [])))
  expect(JSON.stringify(rewritten)).toContain('link removed: evil.example')
  expect(JSON.stringify(rewritten)).not.toContain(KEY)
})
