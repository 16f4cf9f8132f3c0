// Every code a policy document can be answered with, and what to do about it. docs/errors.md lists
// the same codes; a test holds the two together.

import { IMPORT_CODES } from './import/codes.ts'

export const ERRORS = {
  POLICY_TOO_LARGE: 'a bound on size, nesting or aliases of the document is passed',
  POLICY_SYNTAX: 'the text is not YAML or JSON',
  POLICY_EMPTY: 'the document says nothing',
  POLICY_DOUBLED_KEY: 'one mapping has a key twice',
  POLICY_UNKNOWN_KEY: 'a key the language does not have',
  POLICY_MISSING_KEY: 'a required key is not there',
  POLICY_WRONG_TYPE: 'a value of another kind than the key takes',
  POLICY_UNKNOWN_WORD: 'a word the key does not take',
  POLICY_OUT_OF_RANGE: 'a number or text beyond its bound',
  POLICY_BAD_NAME: 'a key that names no tool, resource or prompt',
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
  POLICY_FAULT: 'the engine failed while it judged a call; the call was denied',
  ...IMPORT_CODES,
} as const

export type PolicyErrorCode = keyof typeof ERRORS
