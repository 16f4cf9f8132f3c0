// How much a JSON text holds, counted before anything is made of it: a few kilobytes unpack to
// millions of elements, and each costs a parser and a checker far more than its bytes. Linear, and it
// allocates nothing. It does not say whether the text is JSON; the parser does. Pure.

import { AgentError, type AgentErrorCode } from '../shared/errors.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_ARRAY = 0x5d
const CLOSE_OBJECT = 0x7d

export interface JsonBounds {
  readonly elements: number
  readonly depth: number
}

/** Array elements and members, at most, and how deep they lie in each other. */
export function checkJsonSize(
  bytes: Uint8Array,
  { elements, depth }: JsonBounds,
  code: AgentErrorCode,
): void {
  let count = 1
  let open = 0
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at + 1)
        break
      case COMMA:
        count += 1
        break
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        count += 1
        open += 1
        if (open > depth) throw new AgentError(code, `it is nested more than ${depth} deep`)
        break
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        open -= 1
        break
    }
    if (count > elements)
      throw new AgentError(code, `it holds more than ${elements} elements and members`)
  }
}

/** Where the string ends that begins here, its closing quote. */
function endOfString(bytes: Uint8Array, from: number): number {
  let quote = bytes.indexOf(QUOTE, from)
  while (quote >= 0 && isEscaped(bytes, quote, from)) quote = bytes.indexOf(QUOTE, quote + 1)
  return quote < 0 ? bytes.length : quote
}

function isEscaped(bytes: Uint8Array, at: number, from: number): boolean {
  let slashes = 0
  while (at - slashes > from && bytes[at - slashes - 1] === BACKSLASH) slashes += 1
  return slashes % 2 === 1
}
