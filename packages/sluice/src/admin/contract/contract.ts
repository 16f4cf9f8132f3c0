// Types and schemas of the admin API for its clients: the console imports its types from here and from
// nowhere else. Pure types. What each path takes and needs is in the tables `*-endpoints.ts`;
// `/api/openapi.json` is written from the same tables. Every request but those of sign-in carries
// `Authorization: Bearer TOKEN`, with the token of `POST /api/sign-in` that stays in the tab's memory,
// or a system's credential. What is marked "proof" also needs a passkey assertion for just that request:
// see ProofWish.

export type {
  ApprovalBlock,
  ApprovalRequest,
  ApprovalVerdict,
  ArgumentBound,
  RevealedArguments,
  StandingApproval,
  StandingTerms,
  Vote,
} from '../../core/approval.ts'

export type { PersonView, Role } from '../../core/person.ts'
export type * from './contract-agents.ts'
export type * from './contract-console.ts'
export type * from './contract-live.ts'
export type * from './contract-overview.ts'

import type { ApprovalBlock, StandingApproval } from '../../core/approval.ts'
import type { Person } from '../../core/person.ts'

/** `GET /api/sign-in`: the ways in, before anybody has signed in. */
export interface SignInMethods {
  /** Somebody has a passkey for this address. */
  readonly passkey: boolean
  /** Where `sluice console` has to be run for a code. */
  readonly code: true
  /** `onPage`: people sign in there from this page. */
  readonly issuers: readonly {
    readonly name: string
    readonly issuer: string
    readonly onPage: boolean
  }[]
}

/** `POST /api/sign-in/issuers/:name` `{ challenge }`, the S256 of a secret that stays in the tab: what
 * the browser opens, and what must come back with the answer, to `<base>/sign-in/<name>`. */
export interface ExternalSignInStart {
  readonly address: string
  readonly state: string
}

/** `POST /api/sign-in`: one of these. `code` is of `#code=` in the address; `assertion` answers
 * `POST /api/sign-in/challenge`, which gives `{ challenge }`; `answer` is what an issuer sent the browser
 * back with; `jwt` is an access token of an issuer, made for `<base>/api`. */
export interface SignIn {
  readonly code?: string
  readonly assertion?: unknown
  readonly jwt?: string
  readonly answer?: IssuerAnswer
}

/** `verifier` is the tab's secret, of which the issuer has the hash. */
export interface IssuerAnswer {
  readonly code: string
  readonly state: string
  readonly iss?: string
  readonly verifier: string
}

/** `POST /api/links` `{ link }`: of `#link=` in the address of a message. `challenge` are the options of
 * `startAuthentication`; the assertion goes to `POST /api/sign-in`. Opening a link shows and decides
 * nothing. */
export interface ApprovalLinkView {
  readonly approval: string
  readonly approver: string
  readonly challenge: unknown
}

export interface SignedIn {
  readonly token: string
  readonly me: CurrentPerson
}

/** `GET /api/me`; `proof` is how this session was begun. */
export interface CurrentPerson extends Person {
  readonly passkeys: readonly PasskeyView[]
  readonly hasPin: boolean
  /** Whether it can decide now: it has a passkey for this address, or is a system. */
  readonly mayProve: boolean
  readonly expiresAtMs: number
}

export interface PasskeyView {
  readonly id: string
  readonly label: string
  readonly createdMs: number
  readonly usedMs: number | null
}

/** `GET /api/standing`. */
export interface StandingResponse {
  readonly standing: readonly StandingApproval[]
  readonly barred: readonly ApprovalBlock[]
}

/** A server that an edit of sluice.yaml adds or changes: it waits for `sluice server accept`. */
export interface PendingServerView {
  readonly name: string
  readonly how: 'added' | 'changed'
  /** The whole command, or the address, as it is written; of its environment the names. */
  readonly entry: string
}
