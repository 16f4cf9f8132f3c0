// Error codes of reading any document: a policy, cases, properties, the configuration.
// docs/reference/errors.md lists the same codes.

export const ERRORS = {
  DOCUMENT_TOO_LARGE: 'a bound on size, nesting or aliases of the document is passed',
  DOCUMENT_SYNTAX: 'the text is not YAML or JSON',
  DOCUMENT_EMPTY: 'the document is empty',
  DOCUMENT_DOUBLED_KEY: 'one mapping has a key twice',
  DOCUMENT_UNKNOWN_KEY: 'a key the document does not have',
  DOCUMENT_MISSING_KEY: 'a required key is not there',
  DOCUMENT_WRONG_TYPE: 'a value of another kind than the key takes',
  DOCUMENT_UNKNOWN_WORD: 'a word that the key does not accept',
  DOCUMENT_OUT_OF_RANGE: 'a number or text beyond its bound',
  DOCUMENT_BAD_NAME: 'a key that names no server, tool, resource or prompt',
} as const
