// What the sessions of a gate remember of answers, and their sealed values: how much of it is in memory,
// when it is written, and when it is read again. Written behind the calls, some time after a change; what
// was not written when the gate was killed counts as forgotten. Used by AgentSessions.

import { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import {
  MEMORY_WRITE_DELAY_MS,
  MEMORY_WRITTEN_BYTES_MAX,
  PROVENANCE_BYTES_KEPT,
  PROVENANCE_BYTES_MAX,
} from '../limits.ts'
import { type AnswerMemoryStore, type MemoryPart, NO_ANSWER_MEMORY } from './answer-memory-store.ts'
import { decodeProvenance, decodeSealed, encodeProvenance, encodeSealed } from './encode-memory.ts'
import { randomSeed } from './random-seed.ts'
import type { SessionVault } from './session-vault.ts'

/** The part of a session that is kept here. */
export interface RememberingSession {
  readonly id: string
  readonly vault: SessionVault
  readonly lastUsedMs: number
  readonly isUsed: boolean
  provenance: SessionProvenance | undefined
  /** Of `provenance` when it was last counted. */
  provenanceBytes: number
  /** Parts of it that may be stored and were not read yet, or were written. */
  readonly stored: Set<MemoryPart>
  /** Its sealed values were read, or it had none when the gate started. */
  hasReadSeals: boolean
}

export class AnswerMemory {
  readonly #store: AnswerMemoryStore
  readonly #sessions: () => Iterable<RememberingSession>
  /** Not written yet, the first changed first. */
  readonly #changed = new Set<RememberingSession>()
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  constructor(store: AnswerMemoryStore | undefined, sessions: () => Iterable<RememberingSession>) {
    this.#store = store ?? NO_ANSWER_MEMORY
    this.#sessions = sessions
  }

  /** What was read before it is asked for the first time counts as forgotten. */
  provenanceOf(session: RememberingSession): SessionProvenance {
    if (session.provenance !== undefined) return session.provenance
    this.#makeRoom()
    const made = this.#load(session) ?? new SessionProvenance(randomSeed())
    if (!session.stored.has('answers') && session.isUsed) made.markIncomplete()
    session.provenance = made
    this.#count(session)
    return made
  }

  /** The client is sent something that is not remembered, because no rule reads it any more. */
  missed(session: RememberingSession): void {
    if (session.provenance === undefined && !session.stored.has('answers')) return
    const memory = session.provenance ?? this.#load(session)
    if (memory === undefined || memory.isIncomplete) return
    this.provenanceOf(session).markIncomplete()
    this.changed(session)
  }

  /** Before the client is sent what the session now remembers. Most answers hold nothing new. */
  changed(session: RememberingSession): void {
    if (session.provenance?.takeChanges() === false) return
    this.#count(session)
    if (this.#changed.has(session)) return
    this.#changed.add(session)
    if (session.stored.has('answers')) this.#store.markChanged(session.id)
    this.#timer ??= setTimeout(() => this.#writeSome(), MEMORY_WRITE_DELAY_MS).unref()
  }

  vaultOf(session: RememberingSession): SessionVault {
    if (!session.hasReadSeals) {
      session.hasReadSeals = true
      const stored = this.#store.load(session.id, 'sealed')
      if (stored !== undefined) session.vault.restore(decodeSealed(stored))
    }
    return session.vault
  }

  /** At once, before its placeholder is sent: without the value an echo of it would not be recognised. */
  saveSealed(session: RememberingSession): void {
    if (!session.vault.takeChanged()) return
    this.#store.save(session.id, 'sealed', encodeSealed(session.vault.list()))
    session.stored.add('sealed')
  }

  /** The session has ended. */
  remove(session: RememberingSession): void {
    this.#forget(session)
    session.vault.clear()
    session.hasReadSeals = true
    if (session.stored.size > 0) this.#store.remove(session.id)
    session.stored.clear()
  }

  /** Everything that was not written yet. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const session of this.#changed) this.#write(session)
  }

  #load(session: RememberingSession): SessionProvenance | undefined {
    if (!session.stored.has('answers')) return undefined
    const bytes = this.#store.load(session.id, 'answers')
    const made = bytes && decodeProvenance(bytes)
    if (made === undefined) session.stored.delete('answers')
    return made
  }

  /** One session after the other, with other work in between; the rest after another while. */
  #writeSome(written = 0): void {
    this.#timer = undefined
    const [session] = this.#changed
    if (session === undefined) return
    if (written >= MEMORY_WRITTEN_BYTES_MAX) {
      this.#timer = setTimeout(() => this.#writeSome(), MEMORY_WRITE_DELAY_MS).unref()
      return
    }
    const bytes = this.#write(session)
    if (this.#changed.size === 0) return
    this.#timer = setTimeout(() => this.#writeSome(written + bytes), 0).unref()
  }

  /** Returns how many bytes it took. */
  #write(session: RememberingSession): number {
    this.#changed.delete(session)
    if (session.provenance === undefined) return 0
    const bytes = encodeProvenance(session.provenance)
    this.#store.save(session.id, 'answers', bytes)
    session.stored.add('answers')
    return bytes.length
  }

  /** Those used least recently forget; what was written is read again when they are used. */
  #makeRoom(): void {
    if (this.#bytes <= PROVENANCE_BYTES_MAX) return
    const remembering = [...this.#sessions()].filter(({ provenance }) => provenance !== undefined)
    for (const session of remembering.sort((a, b) => a.lastUsedMs - b.lastUsedMs)) {
      if (this.#bytes <= PROVENANCE_BYTES_KEPT) return
      this.#forget(session)
    }
  }

  #forget(session: RememberingSession): void {
    this.#changed.delete(session)
    session.provenance = undefined
    this.#count(session)
  }

  #count(session: RememberingSession): void {
    const bytes = session.provenance?.bytes ?? 0
    this.#bytes += bytes - session.provenanceBytes
    session.provenanceBytes = bytes
  }
}
