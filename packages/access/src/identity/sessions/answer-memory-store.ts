// What a session remembers of answers, and its sealed values, over a restart of the gate: the interface
// that AnswerMemory writes through. Kept apart from the sessions themselves: it is large, and secret.
// The gateway implements it on `session-memory.db`.

/** `answers`: where values came from. `sealed`: values that the agent knows by their placeholders. `values`:
 * fields of answers that `last(...)` reads. */
export type MemoryPart = 'answers' | 'sealed' | 'values'

export interface AnswerMemoryStore {
  /** Returns undefined if nothing is stored, or what is stored is not all. */
  load(session: string, part: MemoryPart): Uint8Array | undefined
  save(session: string, part: MemoryPart, bytes: Uint8Array): void
  /** What is stored as `answers` is no longer all. Holds at once, also if the gate is killed. */
  markChanged(session: string): void
  remove(session: string): void
}
