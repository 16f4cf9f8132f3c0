// Splits bytes into lines: the same lines for every chunking, bounds that hold, and one report for
// each refused line.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/support/runs.ts'
import { LINE_BYTES_MAX } from './json/limits.ts'
import { type DecodedLine, type LineOptions, LineSplitter } from './lines.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const decode = (bytes: Uint8Array): string => decoder.decode(bytes)

describe('lines', () => {
  test.each<[string, LineOptions['breaks'], string[]]>([
    ['a\nb\r\nc', 'lf', ['a', 'b', 'c']],
    ['a\n\n\r\n', 'lf', ['a', '', '']],
    ['a\rb\n\r\r\n', 'lf', ['a\rb', '\r']],
    ['a\u2028b\u0085\n', 'lf', ['a\u2028b\u0085']],
    ['\ufeffa\n', 'lf', ['\ufeffa']],
    ['', 'lf', []],
    ['a\nb\r\nc\rd', 'any', ['a', 'b', 'c', 'd']],
    ['\r\n\r\r\n\n\n\r', 'any', ['', '', '', '', '', '']],
    ['a\r\n\r\nb\r', 'any', ['a', '', 'b']],
  ])('%j by %s', (text, breaks, expected) => {
    const bytes = new TextEncoder().encode(text)
    for (let size = 1; size <= bytes.length + 1; size++)
      expect(texts(split(bytes, chunks(bytes, size), { breaks: breaks! }))).toEqual(expected)
  })

  test('are the same for every chunking', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\n', '\r', '\r\n', '\u2028') })
    const breaks = fc.constantFrom('lf' as const, 'any' as const)
    fc.assert(
      fc.property(text, fc.array(fc.nat(5)), breaks, (whole, sizes, kind) => {
        const expected = whole.split(kind === 'lf' ? /\r?\n/ : /\r\n|\n|\r/)
        const isOpen = expected.at(-1) !== ''
        if (!isOpen) expected.pop()
        const lines = split(new TextEncoder().encode(whole), sizes, { breaks: kind })
        const cut = (line: string, at: number): string =>
          kind === 'lf' && isOpen && at === expected.length - 1 ? line.replace(/\r$/, '') : line
        expect(texts(lines)).toEqual(expected.map(cut))
      }),
      runs(2_000),
    )
  })

  test('that are not UTF-8 are refused, and the next is read', () => {
    const bytes = new Uint8Array([
      0xff, 10, 0x61, 10, 0xc3, 10, 0xed, 0xa0, 0x80, 10, 0xc0, 0x80, 10,
    ])
    const codes = split(bytes, chunks(bytes, 1)).map((line) => (line.ok ? line.text : line.code))
    expect(codes).toEqual(['WIRE_UTF8', 'a', 'WIRE_UTF8', 'WIRE_UTF8', 'WIRE_UTF8'])
  })

  test('that are too long are reported once and skipped, in any chunks', () => {
    const bytes = new TextEncoder().encode('12345\n123456\n\n1234567890123\n12345')
    for (let size = 1; size <= bytes.length; size++) {
      const lines = split(bytes, chunks(bytes, size), { lineBytesMax: 5 })
      const results = lines.map((line) => (line.ok ? line.text : line.code))
      expect(results).toEqual(['12345', 'WIRE_LINE_LENGTH', '', 'WIRE_LINE_LENGTH', '12345'])
    }
    const lines = split(new TextEncoder().encode('123456'), [2], { lineBytesMax: 5 })
    expect(lines).toEqual([
      { ok: false, code: 'WIRE_LINE_LENGTH', message: 'a line has more than 5 bytes' },
    ])
  })

  test('a flood without a line break is reported at the bound and never buffered', () => {
    const splitter = new LineSplitter(decode)
    const chunk = new Uint8Array(1_048_576).fill(0x61)
    let count = 0
    for (let pushed = 0; pushed < 64; pushed++) count += splitter.push(chunk).length
    expect(count).toBe(1)
    expect(splitter.push(new Uint8Array([10, 0x62, 10]))).toEqual([{ ok: true, text: 'b' }])
  })

  test('a line at the bound, byte by byte and in one piece', () => {
    const bytes = new Uint8Array(LINE_BYTES_MAX + 1).fill(0x61)
    bytes[LINE_BYTES_MAX] = 10
    for (const size of [65_536, bytes.length]) {
      const [line] = split(bytes, chunks(bytes, size))
      expect(line?.ok && line.text.length).toBe(LINE_BYTES_MAX)
    }
  })

  test('a chunk may be reused by its owner', () => {
    const splitter = new LineSplitter(decode)
    const chunk = new TextEncoder().encode('ab')
    splitter.push(chunk)
    chunk.fill(0x7a)
    expect(splitter.push(new Uint8Array([10]))).toEqual([{ ok: true, text: 'ab' }])
    expect(splitter.end()).toEqual([])
  })
})

/** In chunks of these sizes; the rest is one chunk. */
function split(bytes: Uint8Array, sizes: number[], options: LineOptions = {}): DecodedLine[] {
  const splitter = new LineSplitter(decode, options)
  const lines: DecodedLine[] = []
  let from = 0
  for (const size of sizes) {
    lines.push(...splitter.push(bytes.subarray(from, from + size)))
    from += size
  }
  return [...lines, ...splitter.push(bytes.subarray(from)), ...splitter.end()]
}

function chunks(bytes: Uint8Array, size: number): number[] {
  return Array(Math.ceil(bytes.length / size)).fill(size)
}

function texts(lines: DecodedLine[]): string[] {
  return lines.map((line) => (line.ok ? line.text : line.code))
}
