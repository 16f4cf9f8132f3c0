// The sessions of a shared store that this gate uses, found by their name and by the principals that they concern: many
// principals are refreshed at once, so none of them may cost a walk over all sessions.

import { digestOwner, type SessionName } from '@sluice/ledger/store/postgres/session-rows'

export interface KnownSession {
  readonly id: string
  readonly name: SessionName
  readonly principal: string
  readonly keepMs: number
  /** What its connections are recognised by, the newest last. */
  readonly keys: Set<string>
  /** Whose labels its labels are too. */
  labelled: string
  /** The same principal as rows name it. */
  labelledOwner: string
  /** Labels that the store has, and those that it does not have yet. */
  readonly stored: Set<string>
  readonly unstored: Set<string>
  storing: Promise<void> | undefined
  isConnected: boolean
  /** When it became known here: what was read before says nothing about it. */
  since: number
}

export class KnownSessions implements Iterable<KnownSession> {
  readonly #byId = new Map<string, KnownSession>()
  /** The sessions of each owner as rows name it, and those whose labels are its labels too. */
  readonly #byOwner = new Map<string, Set<KnownSession>>()

  get(id: string): KnownSession | undefined {
    return this.#byId.get(id)
  }

  [Symbol.iterator](): Iterator<KnownSession> {
    return this.#byId.values()
  }

  has(id: string): boolean {
    return this.#byId.has(id)
  }

  /** Adds a session, or says whose labels the labels of a known one are now. */
  add(session: KnownSession, labelled: string): void {
    if (session.labelled !== labelled) {
      this.delete(session.id)
      session.labelled = labelled
      session.labelledOwner = digestOwner(labelled)
    }
    this.#byId.set(session.id, session)
    for (const owner of ownersOf(session)) {
      const sessions = this.#byOwner.get(owner)
      if (sessions === undefined) this.#byOwner.set(owner, new Set([session]))
      else sessions.add(session)
    }
  }

  delete(id: string): boolean {
    const session = this.#byId.get(id)
    if (session === undefined) return false
    for (const owner of ownersOf(session)) {
      const sessions = this.#byOwner.get(owner)
      sessions?.delete(session)
      if (sessions?.size === 0) this.#byOwner.delete(owner)
    }
    return this.#byId.delete(id)
  }

  /** True if a session is of this owner, or its labels are. */
  concerns(owner: string): boolean {
    return this.#byOwner.has(owner)
  }

  /** Lists the sessions of an owner, and those whose labels are its labels too. */
  of(owner: string): readonly KnownSession[] {
    return [...(this.#byOwner.get(owner) ?? [])]
  }
}

function ownersOf({ labelledOwner, name }: KnownSession): readonly string[] {
  return labelledOwner === name.owner ? [labelledOwner] : [labelledOwner, name.owner]
}
