// The format of the names of principals and approvers; those of grants and groups are in
// grant-fields.ts.

import { visibleText } from '@sluice/guard/show/visible-text'
import type { Principal } from '@sluice/policy/calls/call'

/** The user on this machine: only they can reach its loopback port. */
export const LOCAL_USER: Principal = { id: 'local', kind: 'local', groups: [], claims: {} }

/** The subject of a token, as it may appear in an id. */
export const SUBJECT = /^[^\p{C}\p{Zl}\p{Zp}]{1,256}$/u

/** An approver. `<issuer>:<subject>`, who signs in externally (OIDC), is not added by hand. */
const PERSON_NAME = /^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,63}$/u
export const PERSON_NAME_HELP =
  'letters of one script, digits, `.`, `_`, `@` and `-`, at most 64, all of them visible'

/** Scripts with confusable letters: a name has letters of at most one of them. */
const MISTAKEN = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
]

export function isPersonName(name: string): boolean {
  const scripts = MISTAKEN.filter((script) => script.test(name))
  return PERSON_NAME.test(name) && visibleText(name) === name && scripts.length <= 1
}
