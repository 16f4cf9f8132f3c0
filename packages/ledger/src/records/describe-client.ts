// The client of a session in words for people. A client names itself, so its name is quoted and marked as
// self-reported wherever a person reads it: approvals, ledger, reports, the console.

export interface SessionClient {
  /** `family`: agents of this gate. */
  readonly kind: string
  /** Name and version as the client says them; may be empty. */
  readonly client: string
  readonly principal: string
}

export function describeClient({ kind, client, principal }: SessionClient): string {
  if (kind === 'family') return principal
  return client === '' ? 'an unnamed client' : `"${client}" (self-reported)`
}
