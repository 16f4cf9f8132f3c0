// Errors of authentication, and of the keys and grants it uses. docs/reference/errors.md lists the
// same codes; a test compares the two.

import { CodedError } from '@sluice/policy/structures/coded-error'

export const ERRORS = {
  IDENTITY_KEY: 'the key of the installation is not one, or cannot be read',
  IDENTITY_HANDLE: 'a handle is too long to be sealed',
  GRANT_TAKEN: 'a grant of this name exists already',
  GRANT_LIMIT: 'there are as many grants as there may be',
} as const

export class IdentityError extends CodedError<keyof typeof ERRORS> {}
