// F12: the gate's own tokens are removed from what clients are sent: in plain or wrapped text, base64 and hex.

import { createGateToken } from '@sluice/access/identity/keys/gate-tokens'
import { findEncodedRuns } from '@sluice/policy/readers/encoded-runs'
import { describe, expect, test } from 'vitest'
import { STEP_CHARS, STRIPPED_TEXT_LENGTH_MAX, TOKEN_BEGINNINGS_MAX } from './limits.ts'
import { stripOwnSteps, stripOwnTokens } from './strip-gate-tokens.ts'

const TOKENS = [createGateToken('code'), `sluice_${'0123456789abcdef'.repeat(4)}`]
const base64 = (text: string) => Buffer.from(text).toString('base64')
const folded = (text: string, width: number, wrap: string) =>
  (base64(text).match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join(wrap)
const SPELLINGS: readonly [how: string, spell: (token: string) => string][] = [
  ['plainly', (token) => token],
  ['in base64', base64],
  ['in base64 behind a letter', (token) => base64(`a link: ${token} `)],
  ['in base64 behind two', (token) => base64(`it: ${token}`).replaceAll('=', '')],
  ['in folded base64', (token) => base64(`mail: ${token}`).replace(/(.{40})/g, '$1\r\n')],
  ['in hex', (token) => Buffer.from(token).toString('hex')],
  ['over several lines', (token) => token.replace(/(.{20})/g, '$1\n  ')],
  ...[' * ', '# ', '+', '// '].map((wrap): [string, (token: string) => string] => [
    `wrapped with \`${wrap}\``,
    (token) => token.replace(/(.{20})/g, `$1\n${wrap}`),
  ]),
  ['wrapped in its first word', (token) => token.replace('lui', 'l\r\n> ui')],
]

describe('F12: a token of the gate does not reach a client', () => {
  test.each(SPELLINGS)('spelt %s', (_how, spell) => {
    for (const token of TOKENS) {
      const text = `see ${spell(token)} and go on`
      const message = JSON.stringify({ id: 1, result: { n: 1.5, content: [{ text }], [text]: 1 } })
      const sent = stripOwnTokens(message)
      expect(sent).not.toContain(spell(token))
      const { content } = (JSON.parse(sent) as { result: { content: { text: string }[] } }).result
      expect(content[0]?.text.replace(/\s/g, '')).toMatch(/^see.*sluice_removed.*andgoon$/)
    }
  })

  test('in the escapes of JSON itself', () => {
    const [token = ''] = TOKENS
    const sent = stripOwnTokens(`{"n":1.0,"text":"${token.replaceAll('_', '\\u005f')}"}`)
    expect(sent).toBe('{"n":1.0,"text":"sluice_removed"}')
  })

  test('everything else stays byte by byte', () => {
    const texts = [
      'a\\nb %20 =3D &amp; \\\\u0041 sluice_ sluice_code_short',
      base64('sluice_code_x '.repeat(9)),
    ]
    for (const text of texts) {
      const message = `{"n":1.50,"big":12345678901234567890,"text":${JSON.stringify(text)},"e":"\\u0041"}`
      expect(stripOwnTokens(message)).toBe(message)
    }
  })

  test('F9: a long log, page or picture is passed on as it is', () => {
    const lines = (line: string) => line.repeat(1_048_576 / line.length)
    for (const text of [
      lines('12:00:01 GET /a%20b?x=12 status=200 "agent=curl" in 12 ms\n'),
      lines('<tr class="row"><td width=50>Salt &amp; pepper</td><td>&euro;4</td></tr>\n'),
      'iVBORw0KGgo'.repeat(953_000),
    ]) {
      const message = JSON.stringify({ text })
      expect(stripOwnTokens(message) === message).toBe(true)
    }
  })
})

test('F7: a token or a run of base64 of many megabytes does not overflow the stack', () => {
  const text = `sluice_in_${'a'.repeat(10 * 1_048_576)}`
  expect(stripOwnTokens(JSON.stringify({ text }))).toBe('{"text":"sluice_removed"}')
  const run = `c2x1aWNlX2${'a'.repeat(15 * 1_048_576)}`
  expect([...findEncodedRuns(`see ${run}`)]).toHaveLength(1)
})

test('F7: a token longer than any that the gate makes is removed to its end', () => {
  for (const body of ['a'.repeat(1_000), `${'a'.repeat(70)}\n> `.repeat(20)]) {
    const text = `see sluice_in_${body}.`
    expect(JSON.parse(stripOwnTokens(JSON.stringify(text)))).toMatch(
      /^see sluice_removed[\n> ]*\.$/,
    )
  }
})

test('F12: past the beginnings that are looked at, encoded text is not passed on', () => {
  const run = `c2x1aWNlX2${'a'.repeat(30)} `
  const texts = Array.from({ length: 3 }, () => run.repeat(TOKEN_BEGINNINGS_MAX / 2))
  const sent = JSON.parse(stripOwnTokens(JSON.stringify(texts))) as string[]
  expect(sent.slice(0, 2)).toEqual(texts.slice(0, 2))
  expect(sent[2]).toBe('sluice_removed '.repeat(TOKEN_BEGINNINGS_MAX / 2))
})

test('F7: a run of base64 of many megabytes that spells a prefix is not looked through, but removed', () => {
  const sent = stripOwnTokens(JSON.stringify({ text: `c2x1aWNlX2${'a'.repeat(10_000_000)}` }))
  expect(sent).toBe('{"text":"sluice_removed"}')
  const picture = JSON.stringify({ data: 'iVBORw0KGgo'.repeat(500_000) })
  expect(stripOwnTokens(picture)).toBe(picture)
})

test('F12: a token deep inside a long run of base64 is found at any alignment', () => {
  const token = `sluice_${'0123456789abcdef'.repeat(4)}`
  for (const padding of [3_000, 3_001, 3_002]) {
    const run = Buffer.from('x'.repeat(padding) + token + 'y'.repeat(3_000)).toString('base64')
    expect(stripOwnTokens(JSON.stringify({ run }))).toBe('{"run":"sluice_removed"}')
  }
})

const MB = 1_048_576
const LONG_MESSAGES: readonly [what: string, message: string][] = [
  ['one text that nearly spells the prefix', JSON.stringify('sc7'.repeat(5 * MB))],
  ['short lines', JSON.stringify('aaaaaaaa\n'.repeat(MB / 2))],
  ['hex with gaps', JSON.stringify('7 3 6 c \n'.repeat(MB / 2))],
  ['many short texts', JSON.stringify(['%41', ...Array<string>(200_000).fill('a')])],
  ['many texts with escapes', JSON.stringify(Array<string>(10_000).fill('=5F'.repeat(26)))],
]

test.each(LONG_MESSAGES)('F9: a long message is looked through in many steps: %s', (_, message) => {
  const steps = stripOwnSteps(message)
  let count = 1
  while (steps.next().done !== true) count++
  expect(count).toBeGreaterThan(message.length / (4 * STEP_CHARS))
})

test('F12: a token that lies over the end of a step is found', () => {
  const [token = ''] = TOKENS
  for (const spelt of [token, base64(token), Buffer.from(token).toString('hex')])
    for (const before of [3, 20, 60]) {
      const text = `${'x '.repeat((STEP_CHARS - before) / 2)}\n${spelt}\n`
      expect(stripOwnTokens(JSON.stringify({ text }))).toContain('sluice_removed')
    }
})

test('F12: lines of base64 are joined over the end of a step', () => {
  const [token = ''] = TOKENS
  for (const wrap of ['\n', '\r\n'])
    for (const before of [30, 31, 32, 33]) {
      const text = `${'x'.repeat(STEP_CHARS - before - 9)}\n${folded(`${'a'.repeat(18)}${token}`, 28, wrap)}`
      expect(stripOwnTokens(JSON.stringify({ text }))).toContain('sluice_removed')
    }
})

test('F9: a text that may spell a token and is too long to look through is not passed on', () => {
  const plain = 'x'.repeat(STRIPPED_TEXT_LENGTH_MAX)
  const texts = [plain, `${plain} sluice_`]
  expect(stripOwnTokens(JSON.stringify(texts))).toBe(JSON.stringify([plain, 'sluice_removed']))
})
