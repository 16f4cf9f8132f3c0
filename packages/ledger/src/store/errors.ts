// Errors of a store, and what to do about each. A driver converts the errors of its library and of
// the file system into these; docs/reference/errors.md lists the same codes.

import { CodedError } from '@sluice/policy/structures/coded-error'

export const ERRORS = {
  STORE_FULL: 'the disk, or what this user may take of it, is full',
  STORE_READ_ONLY: 'the data directory or a file in it may not be written',
  STORE_OWNER:
    'another user could replace the data directory, or a role may not change the shared store',
  STORE_FOREIGN: 'the data directory was not made by this user at this place',
  STORE_LINK: 'the data directory contains a link, or something else that is not a file',
  STORE_USER_KEY: "the user's own key cannot be read or written",
  STORE_LOCKED: 'another process is writing to the same file',
  STORE_CORRUPT: 'a file in the data directory is damaged, or is not a database',
  STORE_NEWER: 'a file in the data directory, or the shared store, was made by a newer version',
  STORE_OLDER:
    'a file in the data directory, or the shared store, is of a version that was never released',
  STORE_MISSING: 'a file of the data directory is not there, or was moved away',
  STORE_IO: 'the disk answered with an error',
  STORE_ADDRESS: 'the address of the shared store is wrong',
  STORE_UNREACHABLE: 'the shared store does not answer in time, or refuses the connection',
  STORE_FENCED: 'another gate with the same name uses the shared store',
  STORE_LOST: 'the shared store no longer has what it had confirmed',
  STORE_CONFLICT: 'another gate changed the same at the same time',
  STORE_KEY: 'a row of the shared store was not written with the key of this cluster',
} as const

export type StoreErrorCode = keyof typeof ERRORS

export class StoreError extends CodedError<StoreErrorCode> {}
