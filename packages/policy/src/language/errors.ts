// Error codes of policy documents, and what to do about each. docs/reference/errors.md lists the same
// codes; a test compares the two.

/**
 * Codes of problems of a policy document, and what each means.
 *
 * @example
 * ```ts
 * console.log(ERRORS.POLICY_NO_EFFECT)
 * ```
 */
export const ERRORS = {
  POLICY_NO_EFFECT: 'something that would silently do nothing',
  POLICY_HIDE_BY_ARGS: '`hide` that depends on arguments',
  POLICY_DOUBLED_LIMIT: 'two limits that would share one counter',
  POLICY_CLIENT_CHANNEL: 'the client may not approve here',
  POLICY_AMOUNT: 'an amount that is not a path, or a path times a path or number',
  POLICY_EXPRESSION: 'an expression that is not CEL, or reads what is not there',
  POLICY_EXPRESSION_UNSAFE: 'an expression whose cost cannot be bounded',
  POLICY_EXPRESSION_TYPE: 'an expression that does not fit the types the tool declares',
  POLICY_UNKNOWN_ARGUMENT: 'an argument that no tool the rule matches declares',
  POLICY_UNMATCHED: 'a rule that no known tool can match',
  POLICY_UNREACHABLE: 'a glob all of whose tools are taken by narrower rules',
  POLICY_WEAK_TEST: 'a text comparison on a path or URL',
  POLICY_AGENT_NULL: 'an expression that cannot be decided for calls no agent makes',
  CASES_INVALID: 'a file of cases or properties that cannot be read',
  POLICY_FAULT: 'the engine failed while it decided a call; the call was denied',
} as const

/**
 * A code of `ERRORS`.
 *
 * @example
 * ```ts
 * const code: PolicyErrorCode = 'POLICY_NO_EFFECT'
 * ```
 */
export type PolicyErrorCode = keyof typeof ERRORS
