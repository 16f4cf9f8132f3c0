// Limits of reading a document, by name and unit. The error for exceeding one states the limit and
// the actual value.

/** Length of one document. A longer one is refused. */
export const DOCUMENT_LENGTH_MAX = 1_048_576
/** Nesting of mappings and lists in a document. A deeper one is refused. */
export const DOCUMENT_DEPTH_MAX = 32
/**
 * Nodes of a document once its aliases are followed, which stops an anchor bomb. A document with
 * more is refused.
 */
export const DOCUMENT_NODES_MAX = 500_000
/** Anchors, aliases and tags of a document, together. A document with more is refused. */
export const DOCUMENT_ANCHORS_MAX = 200
/**
 * Tokens that the lexer finds in a document, line ends included. A document with more is refused.
 */
export const DOCUMENT_TOKENS_MAX = 500_000
/** Problems of one document that are reported, errors before warnings; the rest is only counted. */
export const PROBLEMS_MAX = 100
/**
 * Errors, and likewise warnings, of one document that are collected and sorted; the rest is only
 * counted.
 */
export const PROBLEMS_KEPT_MAX = 1_000

/**
 * Length of a key in a document, and of a value that holds a name, glob or argument path. A longer
 * one is refused.
 */
export const KEY_LENGTH_MAX = 512

/**
 * Globs under one key of a document. A document with more is refused: globs that match the same
 * name are compared with each other.
 */
export const GLOBS_MAX = 1_000
