// Sign-in at an authorisation server: the tab leaves for it and returns with a code. A secret
// created here stays in the tab meanwhile (sessionStorage, which no other tab or port sees, deleted
// on return); the server has its hash. So only the tab that left can use the response, and a
// response that someone else sent to this page is ignored.

import type { ExternalSignInStart, IssuerAnswer } from '../../src/contract/contract.ts'
import { ApiError, post } from './api.ts'
import { go } from './route.ts'

const KEPT = 'sluice.sign-in'
const ERROR_LENGTH_MAX = 300

interface PendingSignIn {
  readonly issuer: string
  readonly state: string
  readonly verifier: string
  /** Where in the console the tab was. */
  readonly back: string
}

export async function leaveFor(issuer: string): Promise<void> {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)))
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const challenge = base64url(new Uint8Array(digest))
  const path = `/sign-in/issuers/${encodeURIComponent(issuer)}`
  const { address, state } = await post<ExternalSignInStart>(path, { challenge })
  const back = location.pathname + location.search
  const left: PendingSignIn = { issuer, state, verifier, back }
  sessionStorage.setItem(KEPT, JSON.stringify(left))
  location.assign(address)
}

/**
 * The response the tab returned with; undefined if there is none. Throws ApiError if sign-in was
 * refused, or the response is not for this tab.
 */
export function takeAnswer(): IssuerAnswer | undefined {
  const [, page, issuer] = location.pathname.split('/')
  if (page !== 'sign-in') return undefined
  const query = new URLSearchParams(location.search)
  const left = takeLeft()
  // Removed from the address and the history immediately; returns to where the tab was.
  go(left?.back ?? '/', true)
  const [code, state, error] = ['code', 'state', 'error'].map((name) => query.get(name))
  if (code === null && error === null) return undefined
  if (left === undefined || state !== left.state || issuer !== left.issuer)
    throw toError(
      'this answer belongs to no sign-in of this tab',
      'begin here; if you did not, somebody may have tried to sign you in as another',
    )
  if (typeof code !== 'string') {
    const why = query.get('error_description') ?? error
    throw toError(`${left.issuer} did not sign you in: ${why}`, 'try again')
  }
  const iss = query.get('iss')
  const { verifier } = left
  return { code, state: left.state, verifier, ...(iss === null ? {} : { iss }) }
}

function toError(message: string, help: string): ApiError {
  return new ApiError(0, 'EXTERNAL_SIGN_IN', message.slice(0, ERROR_LENGTH_MAX), help)
}

function takeLeft(): PendingSignIn | undefined {
  const stored = sessionStorage.getItem(KEPT)
  sessionStorage.removeItem(KEPT)
  return stored === null ? undefined : (JSON.parse(stored) as PendingSignIn)
}

function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
