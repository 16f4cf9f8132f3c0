// What the sessions of a gate remember of answers, and their sealed values: how much of it is in memory,
// when it is written, and when it is read again. Written behind the calls, some time after a change; what
// was not written when the gate was killed counts as forgotten. If gates share sessions, what is remembered of
// answers is in their store instead (SharedAnswers). Used by AgentSessions.

import { Buffer } from 'node:buffer'
import { randomInt } from 'node:crypto'
import type { HashSeed } from '@sluice/policy/provenance/hash'
import { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import { SessionValues } from '@sluice/policy/provenance/session-values'
import {
  MEMORY_WRITE_DELAY_MS,
  MEMORY_WRITTEN_BYTES_MAX,
  PROVENANCE_BYTES_KEPT,
  PROVENANCE_BYTES_MAX,
  VALUES_SESSIONS_MAX,
} from '../limits.ts'
import type { AnswerMemoryStore, MemoryPart } from './answer-memory-store.ts'
import { decodeProvenance, encodeProvenance } from './provenance-bytes.ts'
import type { SealedValue, SessionVault } from './session-vault.ts'
import type { SharedAnswers } from './shared-answers.ts'

const SEALED_VERSION = 1
const VALUES_VERSION = 1
const HALF = 2 ** 32

/** The part of a session that is kept here. */
export interface RememberingSession {
  readonly id: string
  readonly vault: SessionVault
  readonly lastUsedMs: number
  readonly isUsed: boolean
  /** Calls that were forwarded: before the first, nothing was read. */
  readonly calls: number
  provenance: SessionProvenance | undefined
  /** Fields of answers, and which fields a policy read when they were remembered. */
  values: { readonly reads: string; readonly values: SessionValues } | undefined
  /** The size of `provenance` when it was last counted. */
  provenanceBytes: number
  /** Parts of it that may be stored and were not read yet, or were written. */
  readonly stored: Set<MemoryPart>
  /** Its sealed values were read, or it had none when the gate started. */
  hasReadSeals: boolean
}

/** What gates share of the memory of sessions: see SharedAnswers. */
export type SharedMemory = Pick<
  SharedAnswers,
  'add' | 'has' | 'isLong' | 'seedOf' | 'take' | 'unload'
>

export class AnswerMemory {
  readonly #store: AnswerMemoryStore
  readonly #sessions: () => Iterable<RememberingSession>
  readonly #shared: SharedMemory | undefined
  /** Sessions whose changes are not written yet, the first changed first. */
  readonly #changed = new Set<RememberingSession>()
  /** Sessions whose `values` are in memory, the least recently used first. */
  readonly #valued = new Set<RememberingSession>()
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  constructor(
    store: AnswerMemoryStore,
    sessions: () => Iterable<RememberingSession>,
    shared?: SharedMemory,
  ) {
    this.#store = store
    this.#sessions = sessions
    this.#shared = shared
  }

  /** What was read before it is asked for the first time counts as forgotten. */
  provenanceOf(session: RememberingSession): SessionProvenance {
    if (this.#shared !== undefined) return this.#mergeShared(session, this.#shared)
    if (session.provenance !== undefined) return session.provenance
    this.#makeRoom()
    const made = this.#load(session) ?? new SessionProvenance(newHashSeed())
    if (!session.stored.has('answers') && session.isUsed) made.markIncomplete()
    session.provenance = made
    this.#count(session)
    return made
  }

  /** The client is sent something that is not remembered, because no rule reads it any more. */
  missed(session: RememberingSession): void {
    const isKnown = this.#shared?.has(session.id) ?? session.stored.has('answers')
    if (session.provenance === undefined && !isKnown) return
    const memory = session.provenance ?? this.#load(session)
    if (memory === undefined || memory.isIncomplete) return
    this.provenanceOf(session).markIncomplete()
    this.changed(session)
  }

  /** Before the client is sent what the session now remembers. Most answers hold nothing new. */
  changed(session: RememberingSession): void {
    if (this.#shared !== undefined) return this.#share(session, this.#shared)
    if (session.provenance?.takeChanges() === false) return
    this.#count(session)
    if (this.#changed.has(session)) return
    this.#changed.add(session)
    if (session.stored.has('answers')) this.#store.markChanged(session.id)
    this.#timer ??= setTimeout(() => this.#writeSome(), MEMORY_WRITE_DELAY_MS).unref()
  }

  /** Fields of the answers of the session. `reads` is what the policy reads of answers: what was remembered
   * for another text is not all. */
  valuesOf(session: RememberingSession, reads: string): SessionValues {
    const { values } =
      session.values?.reads === reads ? session.values : this.#setValues(session, reads)
    this.#valued.delete(session)
    this.#valued.add(session)
    const [oldest] = this.#valued
    if (oldest !== undefined && this.#valued.size > VALUES_SESSIONS_MAX) this.#unloadValues(oldest)
    return values
  }

  /** At once, before the answer is sent: no older answer may pass for the last one, also if the gate is killed. */
  saveValues(session: RememberingSession): void {
    if (session.values === undefined) return
    const { reads, values } = session.values
    const stored = { version: VALUES_VERSION, reads, ...values.toStored() }
    this.#store.save(session.id, 'values', Buffer.from(JSON.stringify(stored)))
    session.stored.add('values')
  }

  /** The client is sent an answer whose fields are not remembered, because no rule reads any more. */
  missedValues(session: RememberingSession): void {
    if (session.values === undefined && !session.stored.has('values')) return
    this.#unloadValues(session)
    this.#dropStoredValues(session)
  }

  #dropStoredValues(session: RememberingSession): void {
    if (!session.stored.delete('values')) return
    if (this.#store.load(session.id, 'values') !== undefined)
      this.#store.save(session.id, 'values', Buffer.from('{}'))
  }

  #setValues(
    session: RememberingSession,
    reads: string,
  ): NonNullable<RememberingSession['values']> {
    const isNew = session.calls === 0 && session.values === undefined
    const stored = this.#loadValues(session, reads)
    // Answers that this policy does not read are not remembered: when the earlier one is in force again, what it had
    // stored would pass for the last answer.
    if (stored === undefined) this.#dropStoredValues(session)
    session.values = { reads, values: stored ?? new SessionValues(!isNew) }
    return session.values
  }

  #loadValues(session: RememberingSession, reads: string): SessionValues | undefined {
    if (session.values !== undefined || !session.stored.has('values')) return undefined
    const bytes = this.#store.load(session.id, 'values')
    if (bytes === undefined) return undefined
    const stored = JSON.parse(Buffer.from(bytes).toString())
    const isSame = stored.version === VALUES_VERSION && stored.reads === reads
    return isSame ? SessionValues.fromStored(stored) : undefined
  }

  #unloadValues(session: RememberingSession): void {
    session.values = undefined
    this.#valued.delete(session)
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
    this.#unloadValues(session)
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

  /** Merges what other gates have added since. */
  #mergeShared(session: RememberingSession, shared: SharedMemory): SessionProvenance {
    const stored = shared.take(session.id)
    let memory = session.provenance
    if (memory === undefined) {
      this.#makeRoom()
      memory = new SessionProvenance(shared.seedOf(session.id))
      memory.collectAdditions()
      session.provenance = memory
    } else if (stored?.length === 0) return memory
    // Only here: the others have read it.
    if (stored === undefined) memory.forget()
    for (const addition of stored ?? []) memory.merge(addition)
    this.#count(session)
    return memory
  }

  #share(session: RememberingSession, shared: SharedMemory): void {
    const addition = session.provenance?.takeAddition()
    if (addition === undefined) return
    this.#count(session)
    if (shared.isLong(session.id))
      shared.add(session.id, this.provenanceOf(session).toStored(), true)
    else shared.add(session.id, addition, false)
  }

  #load(session: RememberingSession): SessionProvenance | undefined {
    if (this.#shared !== undefined) return this.#mergeShared(session, this.#shared)
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

  /** Makes the sessions forget that were used least recently; what was written is read again when they are used. */
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
    this.#shared?.unload(session.id)
    this.#count(session)
  }

  #count(session: RememberingSession): void {
    const bytes = session.provenance?.bytes ?? 0
    this.#bytes += bytes - session.provenanceBytes
    session.provenanceBytes = bytes
  }
}

/**
 * The secret of a session's hashes: nobody who does not know it can look for values that collide.
 */
export function newHashSeed(): HashSeed {
  return { low: randomInt(HALF), high: randomInt(HALF) }
}

function encodeSealed(values: readonly SealedValue[]): Buffer {
  return Buffer.from(JSON.stringify({ version: SEALED_VERSION, values }))
}

function decodeSealed(bytes: Uint8Array): readonly SealedValue[] {
  const { version, values } = JSON.parse(Buffer.from(bytes).toString())
  return version === SEALED_VERSION ? values : []
}
