// The step thread: owns the journal and the agents in memory, so that neither guest code nor a
// journal write ever runs on the gate's thread. Tidies up while nobody asks. Started by
// step-client.ts.

import { processClock } from '@sluice/ledger/store/process-clock'
import type { JournalPlace } from '../journal/database.ts'
import type { HistoryRetention } from '../journal/retention.ts'
import { openImage } from '../sandbox/image.ts'
import { serveThread, threadData } from '../sandbox/thread-port.ts'
import { SWEEP_EVERY_MS, TIDY_PAUSE_MS } from '../shared/limits.ts'
import { isSliced, runSlice, type SlicedWork } from '../shared/sliced.ts'
import { Stepper } from '../steps/stepper.ts'
import { Operations } from './operations.ts'
import {
  type NextSlice,
  packAnswer,
  readRequest,
  type SliceAnswer,
  type StepRequest,
} from './step-codec.ts'

export interface StepThreadData {
  readonly place: JournalPlace
  readonly image: Uint8Array<ArrayBuffer>
  readonly history?: HistoryRetention | undefined
}

const { place, image, history } = threadData<StepThreadData>()
const stepper = new Stepper(place, openImage(image), history)
const operations = new Operations(stepper)

/** The calls of which the next gains from a memory that is ready for it. */
const CALLS: ReadonlySet<string> = new Set(['create', 'apply', 'ask'])

interface StartedThread {
  readonly name: keyof Operations
  readonly work: SlicedWork<unknown>
}

/** Operations in slices, by the number under which they go on. */
const underWay = new Map<number, StartedThread>()
let lastSlice = 0

let isAsked = false
let isReady = true
let pause: NodeJS.Timeout | undefined

serveThread(
  (request: StepRequest | NextSlice) => {
    if ('slice' in request) {
      const started = underWay.get(request.slice)
      underWay.delete(request.slice)
      return { value: started === undefined ? { isLost: true } : goOn(started) }
    }
    isAsked = true
    pause ??= setInterval(tidy, TIDY_PAUSE_MS)
    const { name } = request
    const operation = operations[name] as (...values: unknown[]) => unknown
    const value = operation.apply(operations, readRequest(request))
    if (isSliced(value)) return { value: goOn({ name, work: value }) }
    if (CALLS.has(name)) isReady = false
    if (value instanceof Promise)
      return value.then((result) => ({ value: packAnswer(name, result) }))
    return { value: packAnswer(name, value) }
  },
  { rest: makeReady },
)

function goOn(started: StartedThread): SliceAnswer {
  const { done, value } = runSlice(started.work)
  if (done === true) return packAnswer(started.name, value)
  lastSlice += 1
  underWay.set(lastSlice, started)
  return { slice: lastSlice }
}

function makeReady(): void {
  if (isReady) return
  isReady = true
  stepper.residents.tidy()
}

/** In a pause: a commit that has to move the log waits for the disk. */
function tidy(): void {
  if (isAsked) {
    isAsked = false
    return
  }
  if (stepper.tidy(processClock.earliestMs())) return
  clearInterval(pause)
  pause = undefined
}

// Also after a long idle time.
setInterval(() => {
  pause ??= setInterval(tidy, TIDY_PAUSE_MS)
}, SWEEP_EVERY_MS).unref()
