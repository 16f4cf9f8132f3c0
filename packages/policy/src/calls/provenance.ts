// Where values of a call came from, as the engine asks for it: the memory of a session behind one
// small interface. `provenance/` implements it; the gate keeps one for each session.

/**
 * Where a value stands. `user`: the user named it. `trusted`: a field that `trust` of the policy names.
 * `field`: a field of an answer without text. `own`: a path, an id or a name that a call of the session
 * brought before any answer had it. `shared field`: a field of an answer with some text, `written
 * field`: with so much that a stranger may have written the field too. `steered`: a field of an answer
 * to a call whose arguments came only from prose. `prose`: text of an answer. `nowhere`: none of these.
 */
export const ORIGINS = [
  'user',
  'trusted',
  'field',
  'own',
  'shared field',
  'written field',
  'steered',
  'prose',
  'nowhere',
] as const
export type Origin = (typeof ORIGINS)[number]

/** `text` is everything else: names, ids, words. */
export type ValueKind = 'email' | 'url' | 'account' | 'path' | 'text'

/** A value by its meaning. */
export interface ValueReading {
  readonly kind: ValueKind
  /** The normal form: equal for equal meaning. */
  readonly whole: string
  /** The host, if the value is a URL. */
  readonly host?: string
  /** The value is a URL with nothing but a host. */
  readonly isBareHost?: boolean
}

export interface ProvenanceLookup {
  /** What the user asked for is known. */
  readonly hasPrompt: boolean
  /** Anything was read that the policy does not trust, or something was forgotten. */
  readonly hasRead: boolean
  /** Text of an answer was read, or something was forgotten. */
  readonly hasProse: boolean
  /** Whether the user wrote this word, or a form of it. */
  wasAsked(word: string): boolean
  originOf(reading: ValueReading): Origin
  /** The tool whose answer had the value last, as `server/name`; undefined if that is not known. */
  sourceOf(reading: ValueReading): string | undefined
}

/**
 * What the policy says of a field of an answer. `id`: the value may be what a call acts on, or a
 * recipient by name, but no address. `address`: it may be an address, too.
 */
export const TRUST_WORDS = ['id', 'address'] as const
export type TrustWord = (typeof TRUST_WORDS)[number]

/** A field by the names on the way to it: `*` is any member, `$key` the names of the members. */
export interface TrustedField {
  /** Empty: everything in the answer. */
  readonly path: readonly string[]
  readonly word: TrustWord
}

/** What of an answer the policy trusts; `all`: nobody else writes any of it. */
export type AnswerTrust = 'all' | readonly TrustedField[]

/**
 * Where the arguments of a tool go, if `labels` says it. `internal`: they stay with their owner, and
 * are not checked. `external`: others get them, also if the tool only reads.
 */
export type ArgumentFlow = 'internal' | 'external'

/**
 * What an argument is, if `destinations` says it; the strictest first. `address`: what it holds is where
 * something goes. `recipient`: who gets it. `id`: what the call acts on. `text`: only addresses in it are
 * checked. `none`: not checked.
 */
export const ARGUMENT_ROLES = ['address', 'recipient', 'id', 'text', 'none'] as const
export type ArgumentRole = (typeof ARGUMENT_ROLES)[number]

/** The roles of arguments, by the names on the way to the argument, joined by dots. */
export type ArgumentRoles = ReadonlyMap<string, ArgumentRole>

export const PROTECTION_LEVELS = ['balanced', 'strict'] as const
/** What `protect` of a document says. */
export type ProtectionLevel = (typeof PROTECTION_LEVELS)[number]
