// Every code a text from the wire can be refused with, and what it means. docs/errors.md lists the
// same codes; a test holds the two together.

export const ERRORS = {
  WIRE_SYNTAX: 'the text is not JSON (RFC 8259)',
  WIRE_DOUBLED_KEY: 'one object has a key twice, after unescaping',
  WIRE_LONE_SURROGATE: 'half of a surrogate pair, raw or escaped, which UTF-8 cannot carry',
  WIRE_NUMBER: 'a number too large for a double, or with too many characters',
  WIRE_DEPTH: 'arrays and objects are nested too deep',
  WIRE_SIZE: 'the text is too long or has too many values',
} as const

export type WireErrorCode = keyof typeof ERRORS
