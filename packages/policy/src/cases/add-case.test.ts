// A case that is added to a file of cases: comments and everything else stay, and it is read back.

import { expect, test } from 'vitest'
import { addCase, type NewCase } from './add-case.ts'

const CASE: NewCase = {
  name: 'a: b # "c"',
  call: 'shop/pay',
  args: { amount: '50.00', to: '"ann"' },
  expect: 'require_approval',
}
const WRITTEN = `name: "a: b # \\"c\\""
    call: "shop/pay"
    args: { "amount": 50.00, "to": "ann" }
    expect: require_approval`

test('a new file names its policy', () => {
  const made = addCase(undefined, CASE, { policy: 'policy.yaml', tools: 'tools.json' })
  expect(made).toMatchObject({
    text: `policy: "policy.yaml"\ntools: "tools.json"\ncases:\n  - ${WRITTEN}\n`,
    added: { name: 'a: b # "c"', tool: 'pay', args: { to: 'ann' } },
  })
})

test('one more item after the last, in its indentation', () => {
  const before = `# what must hold
cases: # all of them
  - name: one
    call: shop/list
    expect: allow # free

# the end
tools: tools.json
`
  const made = addCase(before, CASE, { policy: 'policy.yaml' })
  expect(made).toMatchObject({
    text: before.replace('# free\n', `# free\n  - ${WRITTEN}\n`),
    file: { tools: 'tools.json' },
  })
})

test.each(['cases: []', 'cases: [{ call: a/b, expect: allow }]', '- 1', 'cases:\n  - no: 1\n'])(
  'a file with %j is refused',
  (before) => {
    expect(addCase(before, CASE, { policy: 'policy.yaml' })).toHaveProperty('refused')
  },
)
