// Names chosen by agents, in the formats that other programs read.

import { visibleLines } from '@sluice/guard/show/visible-text'
import { expect, test } from 'vitest'
import type { LedgerRecord } from '../records/record.ts'
import { cefLine, csvLine, otlpRecord, otlpRequest } from './forms.ts'
import { recordJson } from './record-json.ts'

function event(name: string): LedgerRecord {
  return { kind: 'event', seq: 1, atMs: 0, name, detail: {} } as unknown as LedgerRecord
}

test.each([
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  ' =1',
  '\n=1',
  '\t=1',
  '\0=1',
  '\uff1d1',
  '\uff20x',
  '\u00a0=1',
])('a name that is a formula is none in a spreadsheet: %j', (name) => {
  expect(csvLine(event(name), 'h')).toContain(`"'${visibleLines(name)}"`)
})

test('a name with line ends is one line in every format', () => {
  const name = 'a\r\nCEF:0|x|=y\u2028b'
  expect(cefLine(event(name), 'h', '1').trimEnd()).not.toMatch(/[\r\n\u2028]/)
  expect(csvLine(event(name), 'h')).toContain(`"${visibleLines(name)}"`)
})

test('F17: no format of an export has a character that controls a terminal', () => {
  const record = event('a\u009b31mb\u202ec\u0007d\u200be\u{e0041}')
  const json = recordJson(record)
  const otlp = otlpRequest([otlpRecord(record, 'h')], '1')
  for (const text of [csvLine(record, 'h'), cefLine(record, 'h', '1'), json, otlp])
    expect(text.replace(/\r?\n$/, '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  expect(JSON.parse(json)).toMatchObject({ name: (record as { name?: string }).name })
})
