// Bounds of the catalogue, by name and unit: how much of a definition it looks at. A definition is
// the server's text, so nothing here may grow with it.

/** Of a description: what a tool does is said at its beginning. */
export const TEXT_CHARS_MAX = 2_000
/** Properties of a schema, at any depth. */
export const SCHEMA_PROPERTIES_MAX = 200
export const SCHEMA_DEPTH_MAX = 4
/** Values of one `enum`. */
export const SCHEMA_VALUES_MAX = 64
/** Places shown as evidence. */
export const EVIDENCE_MAX = 24
/** Names of arguments remembered, so that a name is looked at once. */
export const KNOWN_ARGUMENTS_MAX = 4_096
/** Signals remembered with the rules they belong to. */
export const KNOWN_FEATURES_MAX = 8_192
/** Changes told of one definition. */
export const CHANGES_MAX = 100
