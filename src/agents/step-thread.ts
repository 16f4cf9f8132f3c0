// The step thread: owns the journal and the agents in memory, so that neither guest code nor a
// journal write ever runs on the gate's thread. Started by step-client.ts.

import { openImage } from '../sandbox/image.ts'
import { serveThread, threadData } from '../sandbox/thread-port.ts'
import { Operations } from './operations.ts'
import { Stepper } from './stepper.ts'

export interface StepThreadData {
  readonly directory: string
  readonly image: Uint8Array<ArrayBuffer>
}

const { directory, image } = threadData<StepThreadData>()
const operations = new Operations(new Stepper(directory, openImage(image)))

serveThread(({ name, values }: { name: keyof Operations; values: unknown[] }) => {
  const operation = operations[name] as (...values: unknown[]) => unknown
  return { value: operation.apply(operations, values) }
})
