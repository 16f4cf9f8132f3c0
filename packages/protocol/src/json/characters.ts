// The characters of JSON that mean something, as UTF-16 code units. Pure; used by the readers of this module.

export const QUOTE = 0x22
export const PLUS = 0x2b
export const COMMA = 0x2c
export const POINT = 0x2e
export const COLON = 0x3a
export const OPEN_ARRAY = 0x5b
export const BACKSLASH = 0x5c
export const CLOSE_ARRAY = 0x5d
export const LETTER_E = 0x65
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d
export const BYTE_ORDER_MARK = 0xfeff
