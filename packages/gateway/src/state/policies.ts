// The policies in force, and how they change: what only tightens at once, what may loosen when a
// person applies it, since an agent with a file tool could have written it; a broken document changes
// nothing. What is in force is kept, so that a restart is no way around. Asked by the call path for every
// call.

import type { Person } from '@sluice/access/identity/person'
import { toActor } from '@sluice/access/identity/person'
import { recordFirst } from '@sluice/ledger/record-first'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { compareSteps, type Loosening } from '@sluice/policy/change/compare'
import type { Problem } from '@sluice/policy/document/problem'
import { Listeners } from '@sluice/policy/structures/listeners'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { runSteps, type Steps } from '@sluice/policy/structures/steps'
import type { JsonObject } from '@sluice/policy/values/json'
import { BASE_POLICY } from '../config/grants.ts'
import { LOOSENINGS_SHOWN_MAX } from '../shared/limits.ts'
import { runInSlices } from '../shared/slices.ts'
import type { StateOptions } from '../shared/state-options.ts'
import { listDecisionChanges } from './decision-changes.ts'
import {
  type CompiledDocuments,
  compileDocuments,
  compileDocumentsSteps,
  type Documents,
  type DocumentsCompilation,
  digestOfSet,
  type PolicyDocument,
  policySet,
  type Trees,
} from './documents.ts'
import { RELOADED_AT_ONCE_LENGTH_MAX } from './limits.ts'
import type { PolicySet } from './policy-set.ts'
import { readTrees } from './read-trees.ts'
import { baseline, readStoredDocuments, storeDocuments } from './stored-documents.ts'

export interface PoliciesOptions extends StateOptions {
  /** The tools that are known, to show what a change means for them. */
  readonly tools?: () => readonly KnownTool[]
  /** Why documents cannot be in force here, though they compile. */
  readonly objectTo?: (compiled: CompiledDocuments) => string | undefined
}

/** What the files say. A promise if another thread reads them. */
export type ReadDocuments = () => Documents | Promise<Documents>

/** The policies for a person: what is in force, and what waits or is wrong. A type and no interface, because it is
 * recorded as JSON. */
export type PolicyDescription = {
  /** The documents in force. */
  readonly documents: readonly DocumentState[]
  /** The documents that wait for a person; null if none do. */
  readonly waiting: readonly DocumentState[] | null
  /** Where the waiting documents are looser than those in force. */
  readonly loosens: readonly { readonly where: string; readonly what: string }[]
  /** Where they are stricter. */
  readonly tightens: readonly string[]
  /** Why the files cannot be read as a policy; null if they can. */
  readonly broken: string | null
}

export type DocumentState = {
  readonly name: string
  readonly file: string
  readonly digest: string
  /** Whether it is the base policy. */
  readonly house: boolean
}

interface PendingPolicyChange {
  readonly compiled: CompiledDocuments
  readonly loosens: readonly Loosening[]
  /** Parts that only tighten, by their places: they wait with what loosens in their document. */
  readonly tightens: readonly string[]
}

export class Policies {
  readonly #options: PoliciesOptions
  readonly #changed = new Listeners()
  /** What callers may see has changed. */
  readonly onChange = this.#changed.subscribe
  #now: CompiledDocuments
  #set: PolicySet
  #waiting: PendingPolicyChange | undefined
  #broken: string | undefined
  /** At this start there was no earlier policy to compare with, and no other one was applied since. */
  #isFirst: boolean
  /** Long documents are being read; and a change came meanwhile. */
  #reloading: Promise<void> | undefined
  #again: ReadDocuments | undefined

  /** `given`: as the files say now. */
  constructor(documents: CompiledDocuments, options: PoliciesOptions) {
    this.#options = options
    const stored = readStoredDocuments(options.store)
    this.#isFirst = stored.length === 0
    const before = baseline(stored, documents.documents)
    // Mostly they are the same, and need not be compiled twice.
    const isSame = digestOfSet(before) === digestOfSet(documents.documents)
    this.#now = (isSame ? undefined : compileDocuments(before).compiled) ?? documents
    this.#set = policySet(this.#now)
    runSteps(this.#offer(documents))
    // The first time there is nothing to hold them against.
    if (this.#waiting === undefined) this.#keep()
  }

  /** Those in force, by name. */
  get documents(): Documents {
    return this.#now.documents
  }

  get now(): PolicySet {
    return this.#set
  }

  get isFirst(): boolean {
    return this.#isFirst
  }

  /** For a person: what waits, or is wrong; empty if the files are what is in force. */
  get why(): string {
    if (this.#broken !== undefined) return `the policy is as it was: ${this.#broken}`
    return this.#waiting === undefined ? '' : describeWaiting(this.#waiting)
  }

  describe(): PolicyDescription {
    return {
      documents: toDocumentStates(this.#now.documents),
      waiting:
        this.#waiting === undefined ? null : toDocumentStates(this.#waiting.compiled.documents),
      loosens: toLooseningViews(this.#waiting?.loosens ?? []),
      tightens: (this.#waiting?.tightens ?? []).slice(0, LOOSENINGS_SHOWN_MAX),
      broken: this.#broken ?? null,
    }
  }

  /** `read` returns the contents of the files; if it throws, the error is reported and nothing changes. A promise where the
   * documents are long: another thread reads them, what is compiled is compiled in slices, and the
   * policy in force goes on deciding meanwhile. */
  reload(read: ReadDocuments): void | Promise<void> {
    if (this.#reloading !== undefined) {
      // What is being read may be of before the change: once more, when that is done.
      this.#again = read
      return this.#reloading
    }
    let documents: ReturnType<ReadDocuments>
    try {
      documents = read()
    } catch (error) {
      return this.#report((error as Error).message)
    }
    if (!(documents instanceof Promise) && lengthOf(documents) <= RELOADED_AT_ONCE_LENGTH_MAX)
      return this.#guard(() => runSteps(this.#take(documents)))
    this.#reloading = this.#reloadAside(documents).finally(() => {
      this.#reloading = undefined
      const again = this.#again
      this.#again = undefined
      if (again !== undefined) return this.reload(again)
    })
    return this.#reloading
  }

  async #reloadAside(reading: ReturnType<ReadDocuments>): Promise<void> {
    try {
      const documents = await reading
      // Those in force too: parts of the set may be compiled with them.
      const all = [...documents.values(), ...this.#now.documents.values()]
      const { problem, trees } = await readTrees(all)
      if (problem !== undefined) return this.#report(describeProblem(problem))
      await runInSlices(this.#take(documents, trees), 'reload')
    } catch (error) {
      this.#report((error as Error).message)
    }
  }

  #guard(step: () => void): void {
    try {
      step()
    } catch (error) {
      this.#report((error as Error).message)
    }
  }

  *#take(documents: Documents, trees?: Trees): Steps<void> {
    const { compiled, problems } = yield* compileDocumentsSteps(documents, trees)
    const wrong = problems.find(({ problem }) => problem.severity === 'error')?.problem
    if (compiled === undefined) return this.#report(describeProblem(wrong))
    const objection = this.#options.objectTo?.(compiled)
    if (objection !== undefined) return this.#report(objection)
    this.#broken = undefined
    yield* this.#offer(compiled, trees)
  }

  #report(broken: string): void {
    const previous = this.#broken
    this.#broken = broken
    if (broken !== previous) this.#options.log('error', this.why)
  }

  /** What `apply` would do, and the digest to ask it with. */
  async preview(): Promise<JsonObject> {
    const after = this.#waiting?.compiled
    // All of it about one change, also if the files change meanwhile.
    const shown = { ...this.describe(), why: this.why, digest: this.waitingDigest ?? null }
    return { ...shown, decisions: after === undefined ? [] : await this.#listChanges(after) }
  }

  /** Of what `apply` would put in force; undefined if nothing waits. */
  get waitingDigest(): string | undefined {
    const after = this.#waiting?.compiled
    return after === undefined ? undefined : digestOfSet(after.documents)
  }

  /** `digest` of what the person has seen: what was written since then is not what they meant. */
  async apply(digest: string, by: Person): Promise<JsonObject> {
    const waiting = this.#waiting
    if (this.#broken !== undefined)
      throw new OperationError(this.#broken, 'fix it; the policy in force is unchanged')
    if (waiting === undefined)
      throw new OperationError(
        'no policy waits',
        this.why === '' ? 'the files are in force' : this.why,
      )
    if (digestOfSet(waiting.compiled.documents) !== digest)
      throw new OperationError(
        'the policy was changed again in the meantime',
        'look at it once more',
      )
    const decisions = await this.#listChanges(waiting.compiled)
    // Recorded before it is in force.
    await this.#event('applied', waiting.compiled, waiting.loosens, by)
    if (this.#waiting !== waiting)
      throw new OperationError('the policy changed again', 'look once more')
    const before = this.#now
    this.#put(waiting.compiled)
    try {
      storeDocuments(this.#options.store, this.#now.documents, this.#options.nowMs())
    } catch (error) {
      // What a restart would take back must not hold until then either.
      this.#put(before)
      this.#waiting = waiting
      throw error
    }
    this.#isFirst = false
    this.#options.log('warn', 'a policy that loosens was applied')
    return {
      documents: toDocumentStates(this.#now.documents),
      loosens: toLooseningViews(waiting.loosens),
      decisions,
    }
  }

  /** Another gate has put other documents in force. Throws if they cannot be compiled here. */
  reloadStored(): void {
    const stored = new Map(readStoredDocuments(this.#options.store).map((one) => [one.name, one]))
    if (digestOfSet(stored) === digestOfSet(this.#now.documents)) return
    const { compiled, problems } = compileDocuments(stored)
    if (compiled === undefined) throw new Error(describeProblem(problems[0]?.problem))
    const waiting = this.#waiting
    this.#put(compiled)
    this.#isFirst = false
    if (waiting !== undefined) runSteps(this.#offer(waiting.compiled))
    this.#options.log('info', 'another gate has changed the policy: it is in force')
  }

  *#offer(documents: CompiledDocuments, trees?: Trees): Steps<void> {
    const { log } = this.#options
    const digest = digestOfSet(documents.documents)
    if (digest === digestOfSet(this.#now.documents)) {
      if (this.#waiting !== undefined) log('info', 'the policy is again the one in force')
      this.#waiting = undefined
      return
    }
    if (this.#waiting && digest === digestOfSet(this.#waiting.compiled.documents)) return
    const before = this.#now
    const { tighter, waiting } = yield* sortChange(before, documents, trees)
    // A person has put another set in force meanwhile: that is what counts.
    if (this.#now !== before) return yield* this.#offer(documents, trees)
    if (tighter !== before) {
      // Tightening waits for nobody, not even for the record, nor for what another document loosens.
      void this.#event('tightened', tighter, []).catch(() => {})
      this.#put(tighter)
      this.#keep()
      log('info', 'the policy was changed, and only tightens: it is in force')
    }
    if (waiting === undefined) return
    this.#waiting = waiting
    log('warn', this.why)
    void this.#event('waiting', documents, waiting.loosens).catch(() => {})
  }

  #put(compiled: CompiledDocuments): void {
    this.#now = compiled
    this.#set = policySet(compiled)
    this.#waiting = undefined
    this.#changed.emit()
  }

  #keep(): void {
    const { store, nowMs, log } = this.#options
    try {
      storeDocuments(store, this.#now.documents, nowMs())
    } catch (error) {
      log('error', 'the policy in force could not be kept', { why: (error as Error).message })
    }
  }

  async #event(
    how: string,
    to: CompiledDocuments,
    loosens: readonly Loosening[],
    by?: Person,
  ): Promise<void> {
    const { ledger, nowMs } = this.#options
    const names = new Set([...this.#now.documents.keys(), ...to.documents.keys()])
    const documents = [...names].map((name) => ({
      name,
      from: this.#now.documents.get(name)?.digest ?? null,
      to: to.documents.get(name)?.digest ?? null,
    }))
    const who = by === undefined ? {} : { by: toActor(by) }
    const detail = { how, documents, loosens: toLooseningViews(loosens), ...who }
    const event = { atMs: nowMs(), name: 'policy', detail }
    await (by === undefined ? ledger.event(event) : recordFirst(ledger, event))
  }

  async #listChanges(after: CompiledDocuments): Promise<JsonObject[]> {
    const tools = this.#options.tools?.() ?? []
    const changes: JsonObject[] = []
    for (const [name, policy] of after.policies) {
      const before = this.#set.of(name).policy
      for (const change of await runInSlices(
        listDecisionChanges(name, before, policy, tools),
        'reload',
      ))
        changes.push(change)
    }
    return changes
  }
}

/** What a gate that starts with these documents would not put in force, because it may loosen what was in force
 * last; undefined if there is nothing of the kind. */
export function findWaiting(
  documents: CompiledDocuments,
  stored: readonly PolicyDocument[],
): string | undefined {
  const before = compileDocuments(baseline(stored, documents.documents)).compiled
  const waiting = before && runSteps(sortChange(before, documents, undefined)).waiting
  return waiting && describeWaiting(waiting)
}

function describeWaiting({ loosens, tightens }: PendingPolicyChange): string {
  const [first] = loosens
  const more = loosens.length > 1 ? ` and ${loosens.length - 1} more` : ''
  const waits = `a policy that may loosen (${first?.where}: ${first?.what}${more}) waits for \`sluice policy apply\``
  if (tightens.length === 0) return waits
  const shown = tightens.slice(0, TIGHTENINGS_NAMED_MAX).join(', ')
  const rest = tightens.length - TIGHTENINGS_NAMED_MAX
  return `${waits}; what only tightens in it is not in force either: ${shown}${rest > 0 ? ` and ${rest} more` : ''}`
}

export const TIGHTENINGS_NAMED_MAX = 3

/** What holds at once of a change, and what waits for a person. */
function* sortChange(
  before: CompiledDocuments,
  documents: CompiledDocuments,
  trees: Trees | undefined,
): Steps<{ tighter: CompiledDocuments; waiting?: PendingPolicyChange }> {
  const tighter = yield* tightened(before, documents, trees)
  if (digestOfSet(tighter.documents) === digestOfSet(documents.documents)) return { tighter }
  const loosens = yield* looserParts(tighter, documents)
  const loose = new Set(loosens.map(({ where }) => where))
  // What would loosen on the way back tightens on this one.
  const back = (yield* looserParts(documents, tighter)).map(({ where }) => where)
  const tightens = [...new Set(back)].filter((where) => !loose.has(where))
  return { tighter, waiting: { compiled: documents, loosens, tightens } }
}

/** What is in force, with every document of `offered` in its place that only tightens. */
function* tightened(
  now: CompiledDocuments,
  documents: CompiledDocuments,
  trees: Trees | undefined,
): Steps<CompiledDocuments> {
  if ((yield* looserParts(now, documents)).length === 0) return documents
  let best = now
  for (const [name, document] of documents.documents) {
    if (best.documents.get(name)?.digest === document.digest) continue
    const { compiled } = yield* compileDocumentsSteps(
      new Map(best.documents).set(name, document),
      trees,
    )
    if (compiled !== undefined && (yield* looserParts(best, compiled)).length === 0) best = compiled
  }
  return best
}

/** A name without a document is denied everything, so one that comes may open, and none that goes. */
function* looserParts(old: CompiledDocuments, now: CompiledDocuments): Steps<Loosening[]> {
  const loosenings: Loosening[] = []
  const isNamed = Math.max(old.policies.size, now.policies.size) > 1
  for (const [name, policy] of now.policies) {
    const before = old.policies.get(name)
    if (before === undefined) loosenings.push({ where: name, what: 'is a new document' })
    else
      for (const { where, what } of yield* compareSteps(before, policy))
        loosenings.push({ where: isNamed ? `${name} ${where}` : where, what })
  }
  return loosenings
}

/** As `compileDocuments`; long documents are read by another thread and compiled in slices. Rejects where
 * the thread fails. */
export async function compileAside(documents: Documents): Promise<DocumentsCompilation> {
  if (lengthOf(documents) <= RELOADED_AT_ONCE_LENGTH_MAX) return compileDocuments(documents)
  const { problem, trees } = await readTrees([...documents.values()])
  if (problem !== undefined) return { problems: [{ problem, text: '' }] }
  return runInSlices(compileDocumentsSteps(documents, trees), 'reload')
}

function lengthOf(documents: Documents): number {
  let length = 0
  for (const { text } of documents.values()) length += text.length
  return length
}

function describeProblem(wrong: Problem | undefined): string {
  return `${wrong?.file}:${wrong?.line}:${wrong?.column}: ${wrong?.message} [${wrong?.code}]`
}

function toDocumentStates(documents: Documents): DocumentState[] {
  return [...documents.values()].map(({ name, file, digest }) => ({
    name,
    file,
    digest,
    house: name === BASE_POLICY,
  }))
}

function toLooseningViews(loosens: readonly Loosening[]): PolicyDescription['loosens'] {
  return loosens.slice(0, LOOSENINGS_SHOWN_MAX).map(({ where, what }) => ({ where, what }))
}
