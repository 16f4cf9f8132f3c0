import { describe, expect, test } from 'vitest'
import { compile } from '../compile/compile.ts'
import { shadowAdditions } from './shadow-edit.ts'

const BEFORE = `version: 1
default: deny
categories: { Read: allow }
tools:
  shop/refund: { action: allow, when: args.amount <= 50 } # small ones
guardrails:
  - name: keys stay here
    when: call.secret
    action: deny
`

function shadowed(after: string, before = BEFORE): string {
  const made = shadowAdditions(before, after)
  if ('refused' in made) throw new Error(made.refused)
  const { policy, problems } = compile({ file: '', text: made.text })
  if (policy === undefined) throw new Error(problems[0]?.message)
  return made.text
}

describe('what an edit adds is in shadow', () => {
  test('words, mappings in braces and in lines, and guardrails; the rest of the text stays', () => {
    const tools = `  shop/refund: { action: allow, when: args.amount <= 50 } # small ones
  shop/list: allow # all of it
  shop/mail:
    action: require_approval
  "web/*": { action: deny }
`
    const after = `${BEFORE.replace(/ {2}shop.*\n/, tools)}  - name: no cards
    when: call.card
    action: deny
`
    expect(shadowed(after)).toBe(
      after
        .replace('shop/list: allow #', 'shop/list: { action: allow, mode: shadow } #')
        .replace('action: require_approval\n', 'action: require_approval\n    mode: shadow\n')
        .replace('{ action: deny }', '{ action: deny, mode: shadow }')
        .replace(/action: deny\n$/, 'action: deny\n    mode: shadow\n'),
    )
  })

  test('also in a section that is new, and in JSON', () => {
    expect(shadowed(`${BEFORE}methods:\n  resources/read: deny\n`)).toContain(
      '  resources/read: { action: deny, mode: shadow }',
    )
    const [before, after] = [{}, { tools: { 'a/b': 'allow' } }].map((more) =>
      JSON.stringify({ version: 1, default: 'deny', ...more }),
    )
    expect(JSON.parse(shadowed(after as string, before))).toMatchObject({
      tools: { 'a/b': { action: 'allow', mode: 'shadow' } },
    })
  })

  test.each([
    ['a rule is changed', BEFORE.replace('<= 50', '<= 60'), 'this edit adds none'],
    ['nothing is changed', BEFORE, 'this edit adds none'],
    [
      'what is added has a mode',
      `${BEFORE}methods: { resources/read: { action: deny, mode: enforce } }`,
      'this edit adds none',
    ],
    [
      'another rule is looser, too',
      `${BEFORE.replace('<= 50', '<= 60')}methods: { resources/read: deny }\n`,
      'it also changes /tools/shop~1refund',
    ],
    [
      'another rule is stricter, too',
      `${BEFORE.replace('Read: allow', 'Read: deny')}methods: { resources/read: deny }\n`,
      'it also changes /categories/Read',
    ],
    ['it has errors', `${BEFORE}methods: { resources/read: perhaps }\n`, 'perhaps'],
    ['it cannot be read', 'tools: [', 'cannot be read'],
  ])('it is refused if %s', (_, after, why) => {
    expect(shadowAdditions(BEFORE, after)).toEqual({ refused: expect.stringContaining(why) })
  })
})
