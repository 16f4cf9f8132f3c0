// Splits bytes into lines, for stdio and event streams: incremental, on bytes, so that a character
// split over two chunks is complete before it is decoded. Memory is bounded by the longest line
// allowed. Pure; the decoder is passed in, and must be strict: `new TextDecoder('utf-8', { fatal:
// true, ignoreBOM: true })`.

import type { WireErrorCode } from './json/errors.ts'
import { LINE_BYTES_MAX, LINE_KEPT_BYTES_MAX } from './json/limits.ts'

/** Throws if the bytes are not UTF-8; keeps a byte order mark, for the reader to refuse. */
export type DecodeText = (bytes: Uint8Array) => string

export interface RejectedLine {
  readonly ok: false
  readonly code: WireErrorCode
  readonly message: string
}

export type DecodedLine = { readonly ok: true; readonly text: string } | RejectedLine

export interface LineOptions {
  readonly lineBytesMax?: number
  /** `lf`: a newline, with or without a carriage return before it. `any`: those, and a carriage
   * return alone. */
  readonly breaks?: 'lf' | 'any'
}

const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
const NO_BYTES = new Uint8Array(0)
/** A stream of nothing but line breaks must not cost a decoder call each. */
const BLANK: DecodedLine = { ok: true, text: '' }

export class LineSplitter {
  readonly #decode: DecodeText
  readonly #lineBytesMax: number
  readonly #splitsAtReturn: boolean
  /** The start of an incomplete line; `#heldLength` bytes of it are filled. */
  #buffered = NO_BYTES
  #heldLength = 0
  /** Inside a line that was too long. */
  #isSkipping = false
  #endedInReturn = false
  #takenBytes = 0

  constructor(decode: DecodeText, options: LineOptions = {}) {
    this.#decode = decode
    this.#lineBytesMax = options.lineBytesMax ?? LINE_BYTES_MAX
    this.#splitsAtReturn = options.breaks === 'any'
  }

  /** How many bytes of the line that is not complete are in memory. */
  get heldBytes(): number {
    return this.#heldLength
  }

  /** How many bytes of the last chunk were read: less than all only if `linesMax` lines were found. */
  get takenBytes(): number {
    return this.#takenBytes
  }

  /**
   * The lines that end in this chunk, which is not retained, and a line that gets too long in it.
   * After `linesMax` lines the rest of the chunk is not read, and has to be pushed again.
   */
  push(chunk: Uint8Array, linesMax = Number.POSITIVE_INFINITY): DecodedLine[] {
    const lines: DecodedLine[] = []
    this.#takenBytes = chunk.length
    let from = this.#endedInReturn && chunk[0] === NEWLINE ? 1 : 0
    if (chunk.length > 0) this.#endedInReturn = false
    let newline = chunk.indexOf(NEWLINE, from)
    let carriageReturn = this.#splitsAtReturn ? chunk.indexOf(CARRIAGE_RETURN, from) : -1
    while (newline >= 0 || carriageReturn >= 0) {
      const isReturn = carriageReturn >= 0 && (newline < 0 || carriageReturn < newline)
      const end = isReturn ? carriageReturn : newline
      this.#endLine(chunk.subarray(from, end), lines)
      from = end + 1
      if (isReturn) {
        if (from === chunk.length) this.#endedInReturn = true
        if (chunk[from] === NEWLINE) from++
        carriageReturn = chunk.indexOf(CARRIAGE_RETURN, from)
      }
      if (lines.length >= linesMax && from < chunk.length) {
        this.#takenBytes = from
        return lines
      }
      if (newline >= 0 && newline < from) newline = chunk.indexOf(NEWLINE, from)
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from), lines)
    return lines
  }

  /** The text after the last line break, at the end of the input. */
  end(): DecodedLine[] {
    const lines: DecodedLine[] = []
    if (this.#heldLength > 0 || this.#isSkipping) this.#endLine(NO_BYTES, lines)
    return lines
  }

  #endLine(tail: Uint8Array, lines: DecodedLine[]): void {
    let bytes = tail
    if (this.#heldLength > 0 || this.#isSkipping) {
      this.#hold(tail, lines)
      bytes = this.#buffered.subarray(0, this.#heldLength)
    } else if (!(tail.length <= this.#lineBytesMax)) {
      lines.push(this.#tooLong())
      return
    }
    if (!this.#isSkipping) lines.push(this.#toLine(bytes))
    this.#isSkipping = false
    this.#letGo(LINE_KEPT_BYTES_MAX)
  }

  #hold(bytes: Uint8Array, lines: DecodedLine[]): void {
    if (this.#isSkipping) return
    const length = this.#heldLength + bytes.length
    if (!(length <= this.#lineBytesMax)) {
      this.#isSkipping = true
      this.#letGo(0)
      lines.push(this.#tooLong())
      return
    }
    if (length > this.#buffered.length) {
      const grown = new Uint8Array(Math.min(Math.max(2 * length, 1_024), this.#lineBytesMax))
      grown.set(this.#buffered.subarray(0, this.#heldLength))
      this.#buffered = grown
    }
    this.#buffered.set(bytes, this.#heldLength)
    this.#heldLength = length
  }

  #letGo(keptBytesMax: number): void {
    this.#heldLength = 0
    if (this.#buffered.length > keptBytesMax) this.#buffered = NO_BYTES
  }

  #toLine(bytes: Uint8Array): DecodedLine {
    if (bytes.length === 0) return BLANK
    const isReturnLast = !this.#splitsAtReturn && bytes.at(-1) === CARRIAGE_RETURN
    try {
      return { ok: true, text: this.#decode(isReturnLast ? bytes.subarray(0, -1) : bytes) }
    } catch {
      return { ok: false, code: 'WIRE_UTF8', message: 'a line is not UTF-8' }
    }
  }

  #tooLong(): RejectedLine {
    const message = `a line has more than ${this.#lineBytesMax} bytes`
    return { ok: false, code: 'WIRE_LINE_LENGTH', message }
  }
}
