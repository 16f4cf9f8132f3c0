// The thread that reads the ledger for the console: takes a question at a time and answers it, one
// that takes long in parts with others in between, and brings the index up to date between them.
// Started by ledger-reader.ts; ends with the gate.

import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { MERGED_FOLDER } from '@sluice/ledger/records/files'
import type { Steps } from '@sluice/policy/structures/steps'
import { ClusterFollower } from './cluster-follower.ts'
import { LedgerQueries } from './ledger-queries.ts'
import { FOLLOW_WAIT_MS, INDEX_STEP_RECORDS, INDEX_WAIT_MS } from './limits.ts'
import type { Readings, ReadName, ReadRequest } from './readings.ts'

const { directory, isMerged, store } = workerData as ReaderOptions
/** Ends this thread; the next question starts another. */
const onGone = () => process.exit()
const following =
  store === undefined
    ? undefined
    : new ClusterFollower(join(directory, MERGED_FOLDER), store, onGone)
const reading = new LedgerQueries(directory, {
  waitMs: INDEX_WAIT_MS,
  stepRecords: INDEX_STEP_RECORDS,
  isMerged,
  following,
})
const readings: Readings = reading

export interface ReaderOptions {
  readonly directory: string
  /** The records of all gates that share a store are read, in place of those of this one. */
  readonly isMerged: boolean
  /** The address of the shared store, where this thread is the one that copies these records. */
  readonly store: string | undefined
}

/** Nobody waits for the answer any more. */
export interface GiveUpRequest {
  readonly id: number
  readonly ask: 'give up'
}

parentPort?.on('message', (request: ReadRequest | GiveUpRequest) => {
  const { id } = request
  if (request.ask === 'give up') return giveUp(id)
  if (following === undefined || NEEDS_NO_NEWS.has(request.ask)) return begin(request)
  void following.follow(FOLLOW_WAIT_MS).then(() => begin(request))
})

/** What is not about recorded calls. */
const NEEDS_NO_NEWS: ReadonlySet<ReadName> = new Set(['tools'])

function begin<Ask extends ReadName>({ id, ask, with: args }: ReadRequest<Ask>): void {
  answer(id, () => {
    const value = readings[ask](args)
    return isInParts(value) ? queue({ id, parts: value }) : { value }
  })
  scheduleIndexing()
}

interface Unfinished {
  readonly id: number
  readonly parts: Steps<unknown>
}

const unfinished: Unfinished[] = []
let isPartDue = false

function isInParts(value: object): value is Steps<unknown> {
  return Symbol.iterator in value && 'next' in value
}

function queue(work: Unfinished): undefined {
  unfinished.push(work)
  schedulePart()
  return undefined
}

function schedulePart(): void {
  if (isPartDue) return
  isPartDue = true
  setImmediate(takePart)
}

function giveUp(id: number): void {
  const at = unfinished.findIndex((work) => work.id === id)
  if (at >= 0) unfinished.splice(at, 1)
}

/** One part, then whatever was asked meanwhile. In turn: what takes one part waits for one of each. */
function takePart(): void {
  isPartDue = false
  const work = unfinished.shift()
  if (work === undefined) return
  const { id, parts } = work
  answer(id, () => {
    const { done, value } = parts.next()
    if (done) return { value }
    unfinished.push(work)
    return undefined
  })
  if (unfinished.length > 0) schedulePart()
}

/** Undefined: later. */
function answer(id: number, work: () => { readonly value: unknown } | undefined): void {
  try {
    const result = work()
    if (result !== undefined) parentPort?.postMessage({ id, ...result })
  } catch (error) {
    parentPort?.postMessage({ id, error: (error as Error).message })
    following?.noteError(error)
  }
}

let isGoing = false

/** Questions that came meanwhile are answered between two steps; half of the time is the gate's. */
function scheduleIndexing(pauseMs = 0): void {
  if (isGoing) return
  isGoing = true
  setTimeout(() => {
    isGoing = false
    const beganMs = performance.now()
    try {
      if (reading.goOn()) scheduleIndexing(performance.now() - beganMs)
    } catch {
      // The next question says what is wrong with it.
    }
  }, pauseMs)
}
