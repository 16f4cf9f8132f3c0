import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ACTIONS } from '../calls/actions.ts'
import { compile } from '../compile/compile.ts'
import { moveRule, type RuleAlternative, type RuleMove } from './edit-rule.ts'

const DOCUMENT = `# who may what
version: 1
default: deny   # closed

categories:
  Read: allow # looking is free
  Write: { action: allow, rate_limit: { max: 3, window: 60 } } # not too fast

tools:
  # files stay where they are
  filesystem/move_file:
    action: deny   # never
    reason: files stay where they are
  filesystem/directory_tree: hide
  "web/*": require_approval
  stripe/refund: { action: allow, when: args.amount <= 50 }

# the end
`

function moved(text: string, move: RuleMove): string {
  const made = moveRule(text, move)
  if ('refused' in made) throw new Error(made.refused)
  return made.text
}

/** Lines that are only in one of the two. */
function changed(before: string, after: string): { gone: string[]; came: string[] } {
  const [old, now] = [before.split('\n'), after.split('\n')]
  return {
    gone: old.filter((line) => !now.includes(line)),
    came: now.filter((line) => !old.includes(line)),
  }
}

describe('a rule is moved by the smallest edit', () => {
  test('a word is replaced, its comment stays', () => {
    const after = moved(DOCUMENT, { section: 'categories', key: 'Read', to: 'deny' })
    expect(changed(DOCUMENT, after)).toEqual({
      gone: ['  Read: allow # looking is free'],
      came: ['  Read: deny # looking is free'],
    })
  })

  test('the action of a mapping is replaced, and nothing else of it', () => {
    const move: RuleMove = { section: 'tools', key: 'filesystem/move_file', to: 'require_approval' }
    expect(changed(DOCUMENT, moved(DOCUMENT, move))).toEqual({
      gone: ['    action: deny   # never'],
      came: ['    action: require_approval   # never'],
    })
  })

  test('from a value of an argument on: a new rule, a word, and fields beside others', () => {
    const from = { argument: 'amount', value: '50.00' }
    const ask = (key: string) =>
      changed(DOCUMENT, moved(DOCUMENT, { section: 'tools', key, to: 'require_approval', from }))
    const fields = 'action: allow, when: args.amount < 50.00, otherwise: require_approval'
    expect(ask('shop/pay').came).toEqual([`  shop/pay: { ${fields} }`])
    expect(ask('web/*').came).toEqual([`  "web/*": { ${fields} }`])
    const plain = { section: 'categories', key: 'Write', to: 'deny', from } as const
    expect(changed(DOCUMENT, moved(DOCUMENT, plain)).came).toEqual([
      '  Write: { action: allow, when: args.amount < 50.00, otherwise: deny, rate_limit: { max: 3, window: 60 } } # not too fast',
    ])
    const block =
      'version: 1\ndefault: deny\ntools:\n  shop/pay:\n    action: deny # not yet\n    reason: no\n'
    expect(moved(block, { section: 'tools', key: 'shop/pay', to: 'require_approval', from })).toBe(
      'version: 1\ndefault: deny\ntools:\n  shop/pay:\n    action: allow\n    when: args.amount < 50.00\n' +
        '    otherwise: require_approval # not yet\n    reason: no\n',
    )
    // A rule that compares the same argument already: only its value moves.
    const bound = block.replace(
      'action: deny # not yet',
      'action: allow\n    when: args.amount <= 20 # for now\n    otherwise: require_approval',
    )
    const raise = { section: 'tools', key: 'shop/pay', to: 'require_approval', from } as const
    expect(moved(bound, raise)).toBe(bound.replace('<= 20', '< 50.00'))
    const other = { ...raise, from: { argument: 'count', value: '3' } }
    expect(moveRule(bound, other)).toEqual({ refused: 'the rule of `shop/pay` has `when`' })
    for (const wrong of [
      { argument: 'amount } #', value: '1' },
      { argument: 'amount', value: '1e3' },
      { argument: '', value: '1' },
    ])
      expect(
        moveRule(DOCUMENT, { section: 'tools', key: 'shop/pay', to: 'deny', from: wrong }),
      ).toEqual({ refused: 'only a plain argument and a plain number can be compared' })
  })

  test('a limit without effect is removed by the move', () => {
    const after = moved(DOCUMENT, { section: 'categories', key: 'Write', to: 'deny' })
    expect(changed(DOCUMENT, after).came).toEqual(['  Write: { action: deny } # not too fast'])
  })

  test('a reason that is never shown is removed by the move', () => {
    const after = moved(DOCUMENT, { section: 'tools', key: 'filesystem/move_file', to: 'allow' })
    expect(changed(DOCUMENT, after)).toEqual({
      gone: ['    action: deny   # never', '    reason: files stay where they are'],
      came: ['    action: allow   # never'],
    })
  })

  test('a tool without a rule gets its own line after the last', () => {
    const after = moved(DOCUMENT, { section: 'tools', key: 'memory/add note', to: 'deny' })
    expect(changed(DOCUMENT, after)).toEqual({ gone: [], came: ['  "memory/add note": deny'] })
    expect(after.endsWith('\n# the end\n')).toBe(true)
  })

  test.each([
    ['no section', 'version: 1\ndefault: deny\n'],
    ['no line end', 'version: 1\ndefault: deny'],
    ['an empty section', 'version: 1\ntools:\ndefault: deny\n'],
    ['empty braces', 'version: 1\ndefault: deny\ntools: {}\n'],
    ['braces', 'version: 1\ndefault: deny\ntools: { x/y: allow }\n'],
    ['JSON', '{ "version": 1, "default": "deny" }'],
    ['JSON with rules', '{ "version": 1, "default": "deny", "tools": { "x/y": "allow" } }'],
    ['windows line ends', 'version: 1\r\ndefault: deny\r\ntools:\r\n  x/y: allow\r\n'],
  ])('%s', (_, text) => {
    const after = moved(text, { section: 'tools', key: 'a/b', to: 'hide' })
    const { policy } = compile({ file: '', text: after })
    expect(policy?.tools.exact('a', 'b')?.action).toBe('hide')
  })
})

describe('H4: a rule with a condition', () => {
  const key = 'stripe/refund'
  const move = (to: 'allow' | 'deny' | 'require_approval', also?: RuleAlternative) => {
    const made = moveRule(DOCUMENT, { section: 'tools', key, to, ...(also && { also }) })
    return 'text' in made ? /stripe\/refund: (.*)/.exec(made.text)?.[1] : made.refused
  }

  test('loses it if every call is denied, or asked for', () => {
    expect(move('deny')).toBe('{ action: deny }')
    expect(move('require_approval')).toBe('{ action: require_approval }')
    expect(move('allow')).toBe('the rule of `stripe/refund` has `when`')
  })

  test('a bound among other conditions, and beside a limit, moves as a number', () => {
    const rule = (when: string) =>
      `version: 1\ndefault: deny\ntools:\n  a/b:\n    action: allow\n    when: ${when}\n    otherwise: require_approval\n    spend_limit: { max: 9, window: 1h, amount: args.amount }\n`
    const ask = (when: string) => {
      const from = { argument: 'amount', value: '200' }
      const move = { section: 'tools', key: 'a/b', to: 'require_approval', from } as const
      const made = moveRule(rule(when), move)
      return 'text' in made ? /when: (.*)/.exec(made.text)?.[1] : made.refused
    }
    expect(ask('args.amount <= 100')).toBe('args.amount < 200')
    expect(ask(`'args.amount <= 100 && args.currency == "EUR"'`)).toBe(
      JSON.stringify('args.amount < 200 && args.currency == "EUR"'),
    )
    for (const when of ["'!(args.amount <= 100)'", "'args.amount <= 100 && args.amount <= 50'"])
      expect(ask(when)).toBe('the rule of `a/b` has `when`')
  })

  test('allows one more alternative, or a larger number', () => {
    const widened = (also: RuleAlternative) => move('allow', also)
    expect(widened({ argument: 'amount', value: '180.5' })).toBe(
      '{ action: allow, when: args.amount <= 180.5 }',
    )
    expect(widened({ argument: 'to', value: '"ann \\"x\\""' })).toBe(
      `{ action: allow, when: ${JSON.stringify('(args.amount <= 50) || args.to == "ann \\"x\\""')} }`,
    )
    expect(widened({ argument: 'url', value: '"a.example"', by: 'host' })).toContain(
      String.raw`(args.amount <= 50) || url(args.url).host == \"a.example\"`,
    )
    expect(widened({ argument: 'to', value: '"/srv/app"', by: 'folder' })).toContain(
      String.raw`(args.amount <= 50) || path(args.to).within(\"/srv/app\")`,
    )
    expect(widened({ argument: 'to', value: '5', by: 'host' })).toContain('only a plain argument')
    expect(widened({ argument: 'to) || (true', value: '1' })).toBe(
      'only a plain argument can be compared, with a number or a text',
    )
    expect(widened({ argument: 'to', value: '"x" || true' })).toContain('only a plain argument')
  })
})

describe('what one word cannot express is refused', () => {
  test('a rule with `when`', () => {
    const made = moveRule(DOCUMENT, { section: 'tools', key: 'stripe/refund', to: 'allow' })
    expect(made).toEqual({ refused: 'the rule of `stripe/refund` has `when`' })
  })

  test('a rule that is an alias: its anchor is the rule of another tool', () => {
    const text =
      'version: 1\ndefault: deny\ntools:\n  a/b: &x { action: deny, reason: no }\n  c/d: *x\n'
    expect(moveRule(text, { section: 'tools', key: 'c/d', to: 'allow' })).toHaveProperty('refused')
  })

  test('a document with errors', () => {
    expect(moveRule('version: 2', { section: 'tools', key: 'a/b', to: 'deny' })).toHaveProperty(
      'refused',
    )
  })
})

test('for any move: the rule has the action, every other rule and every comment stays', () => {
  const keys = [
    'filesystem/move_file',
    'filesystem/directory_tree',
    'new/tool',
    'a/b.c-d',
    'x/ y#z',
  ]
  const move = fc.record({
    section: fc.constantFrom('tools' as const),
    key: fc.constantFrom(...keys),
    to: fc.constantFrom(...ACTIONS),
  })
  fc.assert(
    fc.property(fc.array(move, { minLength: 1, maxLength: 8 }), (moves) => {
      let text = DOCUMENT
      for (const one of moves) text = moved(text, one)
      const { policy } = compile({ file: '', text })
      const last = new Map(moves.map(({ key, to }) => [key, to]))
      for (const [key, to] of last) {
        const [server = '', name = ''] = key.split(/\/(.*)/s)
        expect(policy?.tools.exact(server, name)?.action).toBe(to)
      }
      for (const comment of DOCUMENT.match(/#.*/g) ?? []) expect(text).toContain(comment)
      expect(policy?.categories.get('Read')?.action).toBe('allow')
      expect(policy?.tools.exact('stripe', 'refund')?.when).toBeDefined()
    }),
  )
})
