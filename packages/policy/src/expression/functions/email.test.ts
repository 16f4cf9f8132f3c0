import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../../test/support/runs.ts'
import { parseEmail } from './email.ts'
import { UndecidableError } from './undecidable-error.ts'

const READ: readonly [text: string, local: string, domain: string][] = [
  ['ada@example.com', 'ada', 'example.com'],
  ['Ada.Lovelace+news@Mail.Example.COM', 'Ada.Lovelace+news', 'mail.example.com'],
  ["o'brien_{x}=/?^`|~*#$&-@a-b.example", "o'brien_{x}=/?^`|~*#$&-", 'a-b.example'],
  ['a@xn--mnchen-3ya.example', 'a', 'xn--mnchen-3ya.example'],
  [`${'a'.repeat(64)}@x.example`, 'a'.repeat(64), 'x.example'],
]

const ATTACKS: readonly [name: string, text: string][] = [
  ['a second recipient', 'a@good.example,b@evil.example'],
  ['a second recipient behind a semicolon', 'a@good.example;b@evil.example'],
  ['a second recipient behind a space', 'a@good.example b@evil.example'],
  ['a second recipient behind a line break', 'a@good.example\r\nBcc: b@evil.example'],
  ['a line break at the end', 'a@good.example\n'],
  ['a display name', 'Ada <a@good.example>'],
  ['a display name that is an address', '"a@good.example" <b@evil.example>'],
  ['angle brackets', '<a@good.example>'],
  ['a quoted local part', '"b@evil.example"@good.example'],
  ['two at signs', 'b@evil.example@good.example'],
  ['percent routing', 'b%evil.example@good.example'],
  ['bang routing', 'evil.example!b@good.example'],
  ['a source route', '@evil.example:a@good.example'],
  ['a comment', 'a(b@evil.example)@good.example'],
  ['a comment in the domain', 'a@good.example(evil)'],
  ['a group', 'friends:a@good.example;'],
  ['an encoded word', '=?utf-8?q?b=40evil.example=3e?=@good.example,x'],
  ['a NUL', 'a@good.example\0.evil.example'],
  ['a backslash', 'a\\@b@good.example'],
  ['other letters in the domain', 'a@gооd.example'],
  ['other letters in the local part', 'ä@good.example'],
  ['an address literal', 'a@[127.0.0.1]'],
  ['an address as domain', 'a@127.0.0.1'],
  ['a hexadecimal label', 'a@example.0x7f'],
  ['a domain without a dot', 'a@localhost'],
  ['a trailing dot', 'a@good.example.'],
  ['an empty label', 'a@good..example'],
  ['a hyphen in front of a label', 'a@-good.example'],
  ['an internationalised name that is plain', 'a@xn--good-.example'],
  ['a label that is too long', `a@${'x'.repeat(64)}.example`],
  ['a dot in front', '.a@good.example'],
  ['a dot at the end', 'a.@good.example'],
  ['two dots', 'a..b@good.example'],
  ['no local part', '@good.example'],
  ['no domain', 'a@'],
  ['nothing', ''],
  ['a local part that is too long', `${'a'.repeat(65)}@good.example`],
  ['an address that is too long', `a@${'abcdefg.'.repeat(40)}example`],
]

describe('parseEmail', () => {
  test.each(READ)('%s', (text, local, domain) => {
    expect(parseEmail(text)).toMatchObject({ local, domain })
  })

  test.each(ATTACKS)('%s is not decided: %j', (_name, text) => {
    expect(() => parseEmail(text)).toThrow(UndecidableError)
  })

  test('for every text: the parts are those of the text, and the domain is all after its only `@`', () => {
    const pieces = fc.constantFrom(
      'a',
      'B',
      '@',
      '.',
      '-',
      'x.example',
      '%',
      '!',
      '"',
      ',',
      '\n',
      '1',
    )
    const pieced = fc.array(pieces).map((parts) => parts.join(''))
    const faithful = fc.property(fc.oneof(pieced, fc.emailAddress(), fc.string()), (text) => {
      try {
        const { local, domain } = parseEmail(text)
        expect(`${local}@${domain}`.toLowerCase()).toBe(text.toLowerCase())
        expect(`${local}${domain}`).not.toMatch(/[@%!",\s]/)
      } catch (error) {
        expect(error).toBeInstanceOf(UndecidableError)
      }
    })
    fc.assert(faithful, runs(5_000))
  })
})
