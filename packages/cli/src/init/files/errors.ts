// What can go wrong with another program's file. Nothing of it is changed then. `sluice init` tells it
// with the help that comes along; docs/reference/errors.md lists the same codes.

import { CodedError } from '@sluice/policy/structures/coded-error'

export const ERRORS = {
  CLIENT_FILE: 'the file of a client cannot be read or written, or is not what that client writes',
  CLIENT_BUSY: 'the file of a client was changed by somebody else each time it was to be written',
  CLIENT_RECORD: 'the record of what was moved is not there, or is damaged',
} as const

export class ClientError extends CodedError<keyof typeof ERRORS> {}
