// Input is untrusted: for any text, `compile` returns in bounded time with a policy or at least one
// error, and never throws.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import type { KnownTool } from '../calls/tools.ts'
import { DOCUMENT_LENGTH_MAX, GLOBS_MAX } from '../document/limits.ts'
import { GUARDRAILS_MAX } from '../language/limits.ts'
import { type CompileResult, compile } from './compile.ts'

const CASES = join(import.meta.dirname, '../../../../test/cases')
const tools = JSON.parse(readFileSync(join(CASES, 'tools.json'), 'utf8')) as KnownTool[]
const HEAD = 'version: 1\ndefault: deny\n'
/**
 * A part of the maximum length; `npm run soak -- documents` uses all of it. A hang exceeds the
 * runner's timeout: nothing here is timed.
 */
const LENGTH = Number(process.env.SLUICE_DOCUMENT_LENGTH ?? DOCUMENT_LENGTH_MAX / 64)

function answer(text: string): CompileResult {
  return compile({ file: 'policy.yaml', text }, { tools })
}

function expectAnswer(text: string): void {
  const { policy, problems } = answer(text)
  expect(policy !== undefined || problems.some(({ severity }) => severity === 'error')).toBe(true)
}

function filled(unit: string): string {
  return unit.repeat(Math.floor(LENGTH / unit.length))
}

/** As many lines as fit, each built from its number. */
function lines(head: string, line: (index: number) => string, length = LENGTH): string {
  const parts = [head]
  let left = length - head.length
  for (let index = 0; ; index++) {
    const next = line(index)
    left -= next.length
    if (left < 0) return parts.join('')
    parts.push(next)
  }
}

describe('a document of one sign is answered', () => {
  const signs = [
    '[',
    ']',
    '{',
    '}',
    '[]',
    '- ',
    '-\n',
    '? ',
    '?\n',
    '&a ',
    '!!x ',
    '!x ',
    'a: ',
    'a:\n',
  ]
  const more = [
    '"',
    '""',
    "'",
    "'\n",
    '|',
    '|\n',
    '#',
    '#\n',
    '*a ',
    '\t',
    '%',
    '%a\n',
    '---\n',
    '\n',
    '\r',
  ]
  const rare = [
    '\r\n',
    ' ',
    ',',
    ':',
    ': ',
    '\\',
    '`',
    '@',
    '<<: ',
    '\u0000',
    '\uFEFF',
    '\uD800',
    '💥',
  ]
  test.each([...signs, ...more, ...rare])('%j', (sign) => expectAnswer(filled(sign)))
})

describe('a document of mixed signs is answered', () => {
  const mixed = [
    '[{',
    '- [',
    '- ?',
    'a: [',
    '{a: ',
    '[&a ',
    '- - ? ',
    '- "',
    'a: |\n ',
    '? a\n: b\n',
    '[*a, ',
  ]
  test.each(mixed)('%j', (unit) => expectAnswer(filled(unit)))
})

describe('a document that is too large is refused', () => {
  test('ten megabytes, immediately', () => {
    const { problems } = answer(`${HEAD}${'a: b\n'.repeat(2_000_000)}`)
    expect(problems.map(({ code }) => code)).toEqual(['DOCUMENT_TOO_LARGE'])
  })

  test.each(['- ', 'a: ', '-\n', 'a:\n'])('nested over lines by %j', (unit) => {
    const nested = lines('', (index) => `${' '.repeat(index)}${unit.trimEnd()}\n`)
    expect(answer(nested).problems.map(({ code }) => code)).toEqual(['DOCUMENT_TOO_LARGE'])
  })

  test('an anchor bomb', () => {
    const level = (index: number) => `a${index + 1}: &a${index + 1} [${`*a${index}, `.repeat(8)}]\n`
    const bomb = `a0: &a0 [x, x, x, x]\n${Array.from({ length: 20 }, (_, index) => level(index)).join('')}`
    const { problems } = answer(HEAD + bomb)
    expect(problems.map(({ code }) => code)).toEqual(['DOCUMENT_TOO_LARGE'])
  })

  test('an anchor bomb after half a megabyte of other nodes', () => {
    const padding = lines('pad: [', (index) => `${index},`, LENGTH / 2)
    const alias = `a: &a [${'x,'.repeat(1_000)}]\nb: [${'*a,'.repeat(150)}]\n`
    expectAnswer(`${HEAD}${alias}${padding}]\n`)
  })

  test('an alias inside its own anchor', () => {
    expect(answer(`${HEAD}tools: &a [*a]\n`).problems[0]?.code).toBe('DOCUMENT_TOO_LARGE')
  })
})

describe('a large policy is read', () => {
  const largest: Record<string, string> = {
    'exact names': lines(
      `${HEAD}tools:\n`,
      (index) => `  server-of-many/tool_number_${index}: deny\n`,
    ),
    'unknown keys': lines(HEAD, (index) => `an_unknown_key_${index}: deny\n`),
    'misspelt tools': lines(
      `${HEAD}tools:\n`,
      (index) => `  stripe/create_refund_${index}: deny\n`,
    ),
    conditions: lines(
      `${HEAD}tools:\n`,
      (index) => `  s/t${index}: {action: allow, when: "args.x${index} < ${index}"}\n`,
      LENGTH * 0.6,
    ),
    patterns: lines(
      `${HEAD}tools:\n`,
      (index) =>
        `  s/t${index}: {action: allow, when: 'args.x.matches("(a|b${index}){1,9}[a-z]{2,900}")'}\n`,
      LENGTH * 0.6,
    ),
    guardrails: `${HEAD}guardrails:\n${Array.from({ length: Math.ceil((GUARDRAILS_MAX * LENGTH) / DOCUMENT_LENGTH_MAX) }, (_, index) => `- {name: g${index}, action: deny, when: '${Array.from({ length: 40 }, (_, at) => `args.path != "${index}${at}"`).join(' && ')}'}\n`).join('')}`,
    'globs that all match': `${HEAD}tools:\n${Array.from({ length: GLOBS_MAX }, (_, index) => `  "stripe/${globOf('create_refund', index)}*": deny\n`).join('')}`,
    'one key twice': `${HEAD}tools:\n${'  a/b: deny\n'.repeat(LENGTH / 20)}`,
    comments: HEAD + '# a comment of some length, as people write them\n'.repeat(LENGTH / 60),
    'a long text': `${HEAD}tools:\n  a/b:\n    action: deny\n    reason: |\n${'      a\n'.repeat(LENGTH / 10)}`,
  }
  test.each(Object.entries(largest))('%s', (_, text) => expectAnswer(text))
})

/** The name with a `?` for every bit that is set. */
function globOf(name: string, bits: number): string {
  return [...name].map((letter, index) => ((bits >> index) & 1 ? '?' : letter)).join('')
}

describe('any mutation of a valid policy has a result', () => {
  const valid = [
    `${HEAD}categories:\n  Read: allow\n  Write: { action: allow, rate_limit: { max: 30, window: 60 } }\n`,
    'tools:\n  stripe/create_refund:\n    action: allow\n    when: args.amount <= 5000 && args.reason.matches("^d")\n',
    '    otherwise: require_approval\n    spend_limit: { amount: args.amount, max: 50000, window: 1d, per: principal }\n',
    '  "*/delete_*": hide\nguardrails:\n  - name: private data stays in\n    match: { categories: [Execute] }\n',
    '    when: session.saw.private\n    action: require_approval\nlabels: { "gmail/*": [private] }\n',
  ].join('')

  test('it is valid', () => {
    expect(answer(valid)).toMatchObject({ policy: { fallback: 'deny' }, problems: [] })
  })

  const signs = fc.constantFrom(
    ...'[]{}-?&*!|>"\'#%@`:,\t\n\r \\~0x.é\u200b\uFEFF\u0000'.split(''),
    '---\n',
    '<<: ',
    '&a ',
    '*a ',
    '!!x ',
  )
  const change = fc.record({
    at: fc.nat(valid.length),
    cut: fc.nat(12),
    put: fc.oneof(signs, fc.string({ unit: 'binary', maxLength: 5 })),
  })

  test('letters inserted, removed and exchanged', () => {
    const changes = fc.array(change, { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(changes, (list) => {
        let text = valid
        for (const { at, cut, put } of list) text = text.slice(0, at) + put + text.slice(at + cut)
        expectAnswer(text)
      }),
      runs(500),
    )
  })

  test('lines reordered, duplicated and removed', () => {
    const rows = valid.split('\n')
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...rows), { maxLength: 30 }), (list) =>
        expectAnswer(list.join('\n')),
      ),
      runs(500),
    )
  })

  test('any text at all', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), expectAnswer), runs(400))
  })
})

describe('what is accepted', () => {
  const accepts = (text: string) => expect(answer(text).problems).toEqual([])

  test('JSON', () => accepts('{ "version": 1, "default": "deny", "tools": null }'))
  test('a byte order mark', () => accepts(`\uFEFF${HEAD}`))
  test('lines that end as on Windows', () => accepts(HEAD.replaceAll('\n', '\r\n')))
  test('sections with nothing under them', () =>
    accepts(`${HEAD}tools:\nguardrails: []\nlabels: {}\n`))
  test('one document that begins with `---`', () => accepts(`---\n${HEAD}`))
  test('an anchor and its alias', () => {
    const rule = '&limited { action: allow, rate_limit: { max: 5, window: 60 } }'
    accepts(`${HEAD}tools:\n  stripe/create_refund: ${rule}\n  gmail/send_message: *limited\n`)
  })
  test('the last anchor of a name before its alias, as YAML has it', () => {
    const text = `${HEAD}tools:\n  stripe/create_refund: &word allow\n  gmail/send_message: &word hide\n  gmail/search_messages: *word\n`
    const { policy } = answer(text)
    expect(policy?.tools.exact('gmail', 'search_messages')?.action).toBe('hide')
  })
  test('a warning never crowds out the error that stops the document', () => {
    const weak = (index: number) =>
      `  filesystem/t${index}: { action: allow, when: 'args.path.startsWith("/${index}")' }\n`
    const rules = Array.from({ length: 150 }, (_, index) => weak(index)).join('')
    const { policy, problems } = compile({
      file: 'f',
      text: `${HEAD}tools:\n${rules}  stripe/x: { action: allow, when: 'oops' }\n`,
    })
    expect(policy).toBeUndefined()
    expect(problems.some(({ severity }) => severity === 'error')).toBe(true)
  })
})

test('labels are those of the session, unless the document or the base policy says principal', () => {
  const scopeOf = (line: string, house?: CompileResult['policy']) => {
    const source = { file: 'policy.yaml', text: `${HEAD}${line}\n` }
    return compile(source, house === undefined ? {} : { base: house }).policy?.labelScope
  }
  const wide = compile({ file: 'house.yaml', text: `${HEAD}label_scope: principal\n` }, {}).policy
  expect(scopeOf('')).toBe('session')
  expect(scopeOf('label_scope: session')).toBe('session')
  expect(scopeOf('label_scope: principal')).toBe('principal')
  expect(scopeOf('label_scope: session', wide)).toBe('principal')
  expect(scopeOf('label_scope: everyone')).toBeUndefined()
})

test('`trust` warns of addresses that others choose, and of the label that it replaces', () => {
  const text = `version: 1
default: allow
labels: { "a/old": [trusted] }
trust: { "a/b": { user.from: address, ".": address, id: id }, "a/read_file": { x: address } }`
  const { policy, problems } = compile({ file: 'p', text })
  expect(problems.map(({ severity, line, message }) => [severity, line, message])).toEqual([
    ['warning', 3, expect.stringContaining('read as `trust: all` in this version only')],
    ['warning', 4, expect.stringContaining('`from` is mostly chosen by the sender')],
    ['warning', 4, expect.stringContaining('everything in the answer is meant')],
    ['warning', 4, expect.stringContaining('hands over content as somebody wrote it')],
  ])
  expect(policy?.trust.entries().map(([key]) => key)).toEqual(['a/b', 'a/old', 'a/read_file'])
})

test('a server that a condition over past calls misspells is a warning, as everywhere', () => {
  const text = `${HEAD}guardrails:\n  - { name: first, when: '!called("stripp/lookup")', action: deny }\n`
  const { policy, problems } = compile({ file: 'p', text }, { servers: ['stripe'] })
  expect(policy).toBeDefined()
  expect(problems).toMatchObject([
    { severity: 'warning', code: 'POLICY_UNMATCHED', help: 'did you mean `stripe`?' },
  ])
})
