// The proof of a person that loosening commands need, as the owner of the data directory asks for it:
// the running gate, or a command if none runs. The PIN comes beside the request and goes nowhere
// else; that somebody tried a wrong one is on the record.

import { type People, WrongPinError } from '@sluice/access/identity/people/people'
import { hasRole, type Person, type PinProof, type Role } from '@sluice/access/identity/person'
import type { Ledger } from '@sluice/ledger/ledger'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { isObject, type JsonObject } from '@sluice/policy/values/json'

export interface ProveParts {
  readonly people: People
  readonly ledger: Pick<Ledger, 'event'>
  readonly nowMs: () => number
}

/** Who may do what loosens. */
export const REQUIRED_ROLES = {
  verdict: 'approver',
  apply: 'policy-manager',
  pins: 'policy-manager',
  thaw: 'policy-manager',
  sessions: 'policy-manager',
  grants: 'admin',
  servers: 'admin',
  login: 'admin',
  restore: 'admin',
  trust: 'admin',
  traces: 'admin',
} as const satisfies Readonly<Record<string, Role>>

/** Throws OperationError. `request.proof` is `{ name?, pin }`. */
export type VerifyPerson = (request: JsonObject, role: Role, what: string) => Promise<Person>

export function createPersonVerifier({ people, ledger, nowMs }: ProveParts): VerifyPerson {
  return async (request, role, what) => {
    const proof = readProof(request)
    const person = await people.prove(proof, nowMs()).catch(async (error: Error) => {
      // Only tries that count: somebody could fill the disk with others.
      const detail = { who: proof.name ?? null, what, why: error.message }
      if (error instanceof WrongPinError)
        await ledger.event({ atMs: Date.now(), name: 'proof-refused', detail }).catch(() => {})
      throw error
    })
    checkRole(person, role)
    return person
  }
}

function checkRole(person: Person, role: Role): void {
  if (hasRole(person, role)) return
  throw new OperationError(
    `\`${person.name}\` may not do this: it needs the role \`${role}\``,
    `\`${person.name}\` has ${person.roles.join(', ') || 'none'}; an admin adds approvers`,
  )
}

function readProof({ proof }: JsonObject): PinProof {
  if (!isObject(proof) || typeof proof.pin !== 'string')
    throw new OperationError(
      'this needs the proof of a person',
      'run the command at a terminal, where it asks for your PIN, or use the console',
    )
  const { name, pin } = proof
  if (name === undefined) return { pin }
  if (typeof name === 'string') return { name, pin }
  throw new OperationError('`proof.name` is not a name', 'leave it out, or name an approver')
}
