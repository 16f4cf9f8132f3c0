// Error codes of texts from the wire, and what each means. docs/reference/errors.md lists the same
// codes; a test compares the two. rpc-codes.ts maps them to JSON-RPC error codes.

export const ERRORS = {
  WIRE_SYNTAX: 'the text is not JSON (RFC 8259)',
  WIRE_DOUBLED_KEY: 'one object has a key twice, after unescaping',
  WIRE_LONE_SURROGATE: 'half of a surrogate pair, raw or escaped, which UTF-8 cannot carry',
  WIRE_NUMBER: 'a number too large for a double, or with too many characters',
  WIRE_DEPTH: 'arrays and objects are nested too deep',
  WIRE_SIZE: 'the text is too long, or has too many values, escapes or long numbers',
  WIRE_ENVELOPE: 'the JSON is not a JSON-RPC message: a member is missing, unknown or misplaced',
  WIRE_VERSION: '`jsonrpc` is something other than the string "2.0"',
  WIRE_ID: '`id` is neither a string nor an integer, or exceeds its limit',
  WIRE_METHOD: '`method` is not a string, too long, or not the name of a notification',
  WIRE_PARAMS: '`params`, or a known member of it, has a different type than in the protocol',
  WIRE_CASE_TWIN: 'a key equals a known one but for case, so that two peers would disagree',
  WIRE_BATCH: 'a batch where the revision has none, or one that is empty, nested or too long',
  WIRE_UTF8: 'the bytes are not UTF-8',
  WIRE_LINE_LENGTH: 'a line is too long; it is skipped',
  WIRE_EVENT_SIZE: 'an event of a stream is too large; it is skipped',
} as const

export type WireErrorCode = keyof typeof ERRORS
