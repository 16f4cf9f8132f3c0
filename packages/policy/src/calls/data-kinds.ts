// Kinds of data that a policy names: what is looked for in arguments and answers. A kind with a checksum
// or an issuer's shape may deny; one that is only a shape may redact or mark.

export const BLOCKING_KINDS = ['secret', 'card', 'iban'] as const
const SHAPE_KINDS = ['ssn', 'email', 'phone', 'password'] as const
export const DATA_KINDS = [...BLOCKING_KINDS, ...SHAPE_KINDS] as const

/**
 * `secret`: keys, tokens, private keys, connection strings with a password, seed phrases.
 *
 * @example
 * ```ts
 * const kind: DataKind = 'card'
 * ```
 */
export type DataKind = (typeof DATA_KINDS)[number]

/** Numbers with a checksum, which rules read as `call.card` and `call.iban`. */
export type NumberKind = 'card' | 'iban'
