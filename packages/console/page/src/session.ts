// Who is signed in, and how: a one-time code of `sluice console` in the address, a passkey, or an
// authorisation server. The token stays in memory, see handover.ts. A request that
// decides something has a fresh passkey assertion that is bound to exactly that request.

import { startAuthentication, startRegistration } from '@simplewebauthn/browser'
import type { CurrentPerson, SignedIn, SignInMethods } from '../../src/contract/contract.ts'
import {
  ApiError,
  call,
  get,
  heldToken,
  holdToken,
  post,
  toApiError,
  whenSignedOut,
} from './api.ts'
import { leaveFor, takeAnswer } from './external-sign-in.ts'
import { startHandover, takeToken } from './handover.ts'
import { queries } from './resource.ts'
import { SharedValue, useShared } from './shared-value.ts'

export interface ConsoleSession {
  readonly state: 'starting' | 'out' | 'in'
  readonly me: CurrentPerson | undefined
  readonly ways: SignInMethods | undefined
  readonly error: ApiError | undefined
}

const session = new SharedValue<ConsoleSession>({
  state: 'starting',
  me: undefined,
  ways: undefined,
  error: undefined,
})

/** What was fetched for one person is not shown to the next. */
function forget(): void {
  holdToken(undefined)
  queries.clear()
}

function change(next: Partial<ConsoleSession>): void {
  session.set({ ...session.get(), ...next })
}

export function useSession(): ConsoleSession {
  return useShared(session)
}

export function useMe(): CurrentPerson | undefined {
  return useSession().me
}

/** An admin may do everything. */
export function mayAct(
  me: CurrentPerson | undefined,
  role: 'approver' | 'policy-manager' | 'admin',
): boolean {
  return me?.roles.includes(role) === true || me?.roles.includes('admin') === true
}

/** From a message to one approver: only their passkey signs in with it. */
let link: string | null = null

export async function startSession(): Promise<void> {
  whenSignedOut(() => {
    if (session.get().state !== 'in') return
    forget()
    const help = 'sign in again to go on where you were'
    change({
      state: 'out',
      me: undefined,
      error: new ApiError(401, 'API_SIGN_IN', 'your sign-in has ended', help),
    })
    void findWays()
  })
  const fragment = new URLSearchParams(location.hash.slice(1))
  const code = fragment.get('code')
  link = fragment.get('link')
  // Removed from the address immediately: it works only once, and should not be copied.
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search)
  startHandover(heldToken)
  try {
    if (code !== null) return await enter({ code })
    const answer = takeAnswer()
    if (answer !== undefined) return await enter({ answer })
    if (link === null && (await goOn())) return
  } catch (error) {
    change({ error: toApiError(error) })
  }
  await findWays()
  change({ state: 'out' })
}

/** As before a reload, or as in another tab. */
async function goOn(): Promise<boolean> {
  holdToken(await takeToken())
  if (heldToken() === undefined) return false
  const me = await get<CurrentPerson>('/me').catch(() => undefined)
  if (me === undefined) holdToken(undefined)
  else change({ state: 'in', me })
  return me !== undefined
}

async function findWays(): Promise<void> {
  const ways = await get<SignInMethods>('/sign-in').catch((error) => {
    change({ error: toApiError(error) })
    return undefined
  })
  change({ ways })
}

/** Shows why it failed, in place of what was shown before. */
async function trySigningIn(signIn: () => Promise<void>): Promise<void> {
  change({ error: undefined })
  await signIn().catch((error) => change({ error: toApiError(error) }))
}

export function signInExternally(issuer: string): Promise<void> {
  return trySigningIn(() => leaveFor(issuer))
}

/** If the gate did not answer. */
export function tryAgain(): Promise<void> {
  return trySigningIn(findWays)
}

export function signInWithPasskey(): Promise<void> {
  return trySigningIn(async () => {
    const wanted = link
    // Once only: if it has expired, the next attempt is the ordinary sign-in.
    link = null
    const { challenge: optionsJSON } = await (wanted === null
      ? post<{ challenge: never }>('/sign-in/challenge')
      : post<{ challenge: never }>('/links', { link: wanted }))
    await enter({ assertion: await startAuthentication({ optionsJSON }) })
  })
}

async function enter(by: object): Promise<void> {
  const { token, me } = await post<SignedIn>('/sign-in', by)
  holdToken(token)
  change({ state: 'in', me, error: undefined })
}

export async function refreshMe(): Promise<void> {
  change({ me: await get<CurrentPerson>('/me') })
}

export function signOut(): void {
  void call('DELETE', '/sign-in').catch(() => {})
  forget()
  change({ state: 'out', me: undefined, error: undefined })
  void findWays()
}

/** `pin` if the person has one: the gate asks for it once more. */
export async function addPasskey(label: string, pin: string): Promise<void> {
  const { challenge: optionsJSON } = await post<{ challenge: never }>('/passkeys/challenge')
  const attestation = await startRegistration({ optionsJSON })
  const body = { label, attestation, ...(pin === '' ? {} : { pin }) }
  if (pin === '' && session.get().me?.passkeys.length)
    await sendWithProof('POST', '/passkeys', body)
  else await post('/passkeys', body)
  await refreshMe()
}

/** A request with a passkey assertion for exactly this one. */
export async function sendWithProof<Answer>(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<Answer> {
  const text = body === undefined ? '' : JSON.stringify(body)
  const signed = { method, path: `/api${path}`, body: text }
  const { challenge } = await post<{ challenge: never }>('/proofs', signed)
  const assertion = await startAuthentication({ optionsJSON: challenge })
  return call<Answer>(method, path, body, { proof: btoa(JSON.stringify(assertion)) })
}
