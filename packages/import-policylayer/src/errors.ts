// What the importer can say about a document of another make: errors (a person has to look) and
// warnings (the meaning changed, or the original lets something through).
// docs/reference/errors.md lists the same codes.

export const ERRORS = {
  IMPORT_FORMAT: 'the document is in none of the formats that can be imported',
  IMPORT_VERSION: 'the document has another version than the one the importer knows',
  IMPORT_SERVER: 'the name of the server cannot stand in a policy',
  IMPORT_UNKNOWN_KEY: 'a key the original ignores or the importer does not know',
  IMPORT_INVALID: 'a value the original itself refuses',
  IMPORT_AMBIGUOUS: 'a bare word that two YAML parsers read as different values',
  IMPORT_NAME: 'a tool name that would be read as a glob, or cannot be written as a key',
  IMPORT_OPERATOR: 'a condition whose operator has no translation',
  IMPORT_VALUE: 'a value that cannot be compared exactly',
  IMPORT_PATH: 'a path that names no argument',
  IMPORT_PATTERN: 'a regular expression that is not RE2, or too long',
  IMPORT_STATE: 'a condition on a counter that is not a limit of its own tool',
  IMPORT_LIMIT: 'a limit that cannot be translated',
  IMPORT_TOO_LARGE: 'the translation passes a bound of the language',
  IMPORT_DEFAULT_ALLOW: 'tools the document does not name are allowed',
  IMPORT_OTHER_METHODS: 'the original judges tool calls only',
  IMPORT_WILDCARD_NO_RESCUE: '`*` beside `default: deny` lets no further tool through',
  IMPORT_CALENDAR_WINDOW: 'the original counts by the calendar, the import by a sliding window',
  IMPORT_SHARED_COUNTER: 'the original shares this counter with its other processes',
  IMPORT_NEVER_COUNTED: 'the original never counts what this limit is about',
  IMPORT_NO_LIMIT: 'a counter that nothing limits',
  IMPORT_AMOUNT: 'the original cuts fractions off amounts and takes negative ones',
  IMPORT_LOOSE_TYPES: 'the original takes a value of another type for equal',
  IMPORT_TYPE_PASSES: 'a value of another type passes the original, and not the import',
  IMPORT_MISSING_PASSES: 'a call without this argument passes, here as there',
  IMPORT_UNREACHABLE: 'a rule that changes nothing',
  IMPORT_HIDE: 'hidden tools are answered differently',
  IMPORT_APPROVAL: 'who approves, and how long it takes, has to be set up here',
  IMPORT_UNNAMED: 'a rule without a name',
  IMPORT_REASON: 'a reason that had to be shortened',
  IMPORT_LIMIT_CONDITIONS: 'a limit for some calls only, which is imported for all of them',
  IMPORT_PAGES_DEFAULT: 'the document does not say what holds for tools that it does not name',
  IMPORT_HOSTED_READING: 'parts of the hosted format are not documented in public',
} as const

export type ImportCode = keyof typeof ERRORS
