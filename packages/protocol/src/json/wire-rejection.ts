// Why a text from the wire is refused, thrown by the readers to the entry point of this module, and
// how a piece of that text is quoted in a message. Pure.

import type { WireErrorCode } from './errors.ts'
import { SHOWN_LENGTH_MAX } from './limits.ts'

/** This is no Error, because a flood of invalid texts must not pay for stack traces. It never leaves the module. */
export class WireRejection {
  readonly code: WireErrorCode
  readonly message: string
  /** Where in the text, in UTF-16 code units. */
  readonly offset: number
  constructor(code: WireErrorCode, message: string, offset: number) {
    this.code = code
    this.message = message
    this.offset = offset
  }
}

/** In backticks, truncated, and without anything that could rewrite a terminal or a log line. */
export function quoteForMessage(text: string): string {
  const hidden = /[\p{C}\p{Zl}\p{Zp}`]/gu
  const spell = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`
  const cut = text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text
  return `\`${cut.replace(hidden, spell)}\``
}
