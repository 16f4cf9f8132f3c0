import { describe, expect, test } from 'vitest'
import { compile } from '../compile/compile.ts'
import { addGuardrail, addToLists, setProtect, type WrittenGuardrail } from './add-entries.ts'

const RAIL: WrittenGuardrail = {
  name: 'start files',
  tools: ['files/write_file'],
  when: 'args.path.contains("/.git/")',
  action: 'require_approval',
  reason: 'it starts programs',
}
const FORMS = {
  'none yet': 'version: 1 # first\ndefault: deny # closed\n',
  'no line break at the end': 'version: 1\ndefault: deny',
  'an empty section': 'version: 1\nguardrails: # soon\nlabels:\ndefault: deny\n',
  'others there': `version: 1
guardrails:
  # the first
  - name: a
    match: { tools: ["x/*"] }
    action: deny # never
labels:
  web/fetch: [untrusted] # the web
default: deny
`,
  'without an indent':
    'version: 1\nguardrails:\n- name: a\n  action: deny\n  match: { servers: [x] }\ndefault: deny\n',
  braces:
    '{ "version": 1, "default": "deny", "guardrails": [{ "name": "a", "match": { "servers": ["x"] }, "action": "deny" }], "labels": {} }',
  'Windows line breaks':
    'version: 1\r\ndefault: deny\r\nguardrails:\r\n  - name: a\r\n    match: { servers: [x] }\r\n    action: deny\r\n',
}

function read(text: string | undefined) {
  const { policy, problems } = compile({ file: 'p', text: text ?? '' })
  if (policy === undefined) throw new Error(`${problems[0]?.message}\n${text}`)
  return policy
}

describe.each(Object.entries(FORMS))('%s', (_name, text) => {
  const comments = text.match(/#.*/g) ?? []

  test('a guardrail is the last, and the comments stay', () => {
    const made = addGuardrail(text, RAIL) ?? ''
    const names = read(made).guardrails.map(({ name }) => name)
    expect(names.at(-1)).toBe('start files')
    expect(names).toHaveLength(read(text).guardrails.length + 1)
    for (const comment of comments) expect(made).toContain(comment)
  })

  test('labels are added to those that are there', () => {
    const wanted = new Map([
      ['web/fetch', ['private']],
      ['mail/read', ['untrusted', 'private']],
    ])
    const made = addToLists(text, 'labels', wanted) ?? ''
    const { labels } = read(made)
    const had = read(text).labels.all('web', 'fetch').flat()
    expect(labels.all('web', 'fetch').flat()).toEqual([...had, 'private'])
    expect(labels.all('mail', 'read').flat()).toEqual(['untrusted', 'private'])
    const hosts = addToLists(text, 'egress', new Map([['web/fetch', ['docs.example']]]))
    expect(read(hosts).egress.all('web', 'fetch')).toEqual([['docs.example']])
    for (const comment of comments) expect(made).toContain(comment)
  })

  test('protect is set, and set again', () => {
    const once = setProtect(text, 'balanced') ?? ''
    expect(read(once).protect).toBe('balanced')
    expect(read(setProtect(once, 'strict')).protect).toBe('strict')
  })
})

test('a section that is written elsewhere is left alone', () => {
  const text = 'version: 1\ndefault: deny\ntools: &t {}\nlabels: *t\n'
  expect(addToLists(text, 'labels', new Map([['a/b', ['x']]]))).toBeUndefined()
})
