// Bounds of the catalogue, by name and unit: how much of a definition it looks at. A definition is
// the server's text, so nothing here may grow with it.

/** Characters of a tool's description that are read to classify it. */
export const TEXT_CHARS_MAX = 2_000
/** Characters of a tool's title, and of its description, that are searched for side effects told in passing. */
export const SIDE_EFFECT_CHARS_MAX = 600
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
/** Characters of a tool's name, and of its description, whose words the network reads. */
export const READ_WORDS_CHARS_MAX = 120
/** Arguments of a tool whose words the network reads. */
export const READ_ARGUMENTS_MAX = 40
/** Characters of an argument's name, and of a value to choose, whose words the network reads. */
export const ARGUMENT_CHARS_MAX = 64
/** Words of an argument's name that the network reads. */
export const ARGUMENT_WORDS_MAX = 6
/** Values to choose of one argument that the network reads. */
export const ARGUMENT_VALUES_MAX = 16
/** Words, of each zone, whose numbers are cached; the cache is cleared when it is full. */
export const KNOWN_WORDS_MAX = 8_192
