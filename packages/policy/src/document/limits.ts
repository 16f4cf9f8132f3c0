// Limits of reading a document, by name and unit. The error for exceeding one states the limit and
// the actual value.

/** A document, in UTF-16 code units of its text. */
export const DOCUMENT_LENGTH_MAX = 1_048_576
/** Nesting of mappings and lists in a document. */
export const DOCUMENT_DEPTH_MAX = 32
/** Nodes of a document once its aliases are followed: what stops an anchor bomb. */
export const DOCUMENT_NODES_MAX = 500_000
export const DOCUMENT_ANCHORS_MAX = 200
/** Tokens of a document as the lexer makes them, line ends included: a megabyte of short lines. */
export const DOCUMENT_TOKENS_MAX = 500_000
/** Problems reported before the rest is only counted. */
export const PROBLEMS_MAX = 100
/** Problems kept for sorting: a megabyte of unknown keys is not processed one by one. */
export const PROBLEMS_KEPT_MAX = 1_000

export const KEY_LENGTH_MAX = 512

/** Globs under one key: for a name, each that matches is compared with each other. */
export const GLOBS_MAX = 1_000
