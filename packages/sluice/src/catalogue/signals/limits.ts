// Bounds of the catalogue, by name and unit: how much of a definition it looks at. A definition is
// the server's text, so nothing here may grow with it.

/** Characters of a tool's description that are read to classify it. */
export const TEXT_CHARS_MAX = 2_000
/** Properties of an input schema, at any depth, that are read to classify a tool. */
export const SCHEMA_PROPERTIES_MAX = 200
/** Nesting of an input schema that is read to classify a tool. */
export const SCHEMA_DEPTH_MAX = 4
/** Values of one `enum`, and alternatives of one schema, that are read to classify a tool. */
export const SCHEMA_VALUES_MAX = 64
/** Places of a definition that are shown as evidence for its category. */
export const EVIDENCE_MAX = 24
/** Argument names whose analysis is cached; the cache is cleared when it is full. */
export const KNOWN_ARGUMENTS_MAX = 4_096
/** Signals whose matching rules are cached; the cache is cleared when it is full. */
export const KNOWN_FEATURES_MAX = 8_192
/** Changes of one definition that are listed. */
export const CHANGES_MAX = 100
