// What the admin API can answer instead of what was asked for. docs/reference/errors.md lists the same codes; a
// test holds the two together.

import { CodedError } from '@sluice/policy/structures/coded-error'

export const ERRORS = {
  API_SIGN_IN: 'nobody is signed in, or not any more',
  API_ROLE: 'the one who is signed in may not do this',
  API_PROOF: 'this needs a fresh passkey assertion for just this request',
  API_ORIGIN: 'the page that asks is not of this gate',
  API_REQUEST: 'the request is not one that can be read here',
  API_NOT_FOUND: 'nothing is at this address',
  API_METHOD: 'this address has other methods',
  API_REFUSED: 'it was understood and is not done',
  API_LIMIT: 'there is no room for one more now',
  API_ISSUER: 'an authorisation server does not answer as it should',
  API_FAULT: 'the gate itself failed',
} as const

/** An outage has the code that calls have. */
export type ApiCode = keyof typeof ERRORS | 'GATE_UNAVAILABLE'

const STATUS: Readonly<Record<ApiCode, number>> = {
  API_SIGN_IN: 401,
  API_ROLE: 403,
  API_PROOF: 403,
  API_ORIGIN: 403,
  API_REQUEST: 400,
  API_NOT_FOUND: 404,
  API_METHOD: 405,
  API_REFUSED: 409,
  API_LIMIT: 429,
  API_ISSUER: 502,
  API_FAULT: 500,
  GATE_UNAVAILABLE: 503,
}

export class ApiError extends CodedError<ApiCode> {
  get status(): number {
    return STATUS[this.code]
  }
}
