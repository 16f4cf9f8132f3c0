// Starts a gate, step by step: each step gets what earlier ones opened, and defers how to close it. Nothing is
// served before it can be recorded; a gate ends backwards, so that what is open can finish.

import type { GateConfig } from '../config/config.ts'
import type { CompiledDocuments } from '../state/documents.ts'
import { openAdmin } from './open-admin.ts'
import { openCalls } from './open-calls.ts'
import { openData } from './open-data.ts'
import { openIdentity } from './open-identity.ts'
import { openObservation } from './open-observation.ts'
import { reloadOnChange } from './reload-on-change.ts'
import type { RunningGate, RunOptions } from './running-gate.ts'
import { serve } from './serve.ts'

export { DataInUseError } from '../data/data-lock.ts'

export async function runGate(
  config: GateConfig,
  documents: CompiledDocuments,
  options: RunOptions,
): Promise<RunningGate> {
  const closing = new AsyncDisposableStack()
  try {
    const data = await openData(config, documents, options, closing)
    const identity = await openIdentity(data, closing)
    const calls = await openCalls({ data, identity }, options, closing)
    const observation = openObservation({ data, calls }, closing)
    const reload = reloadOnChange({ data, calls }, options, closing)
    const steps = { data, identity, calls, observation, reload }
    const admin = await openAdmin(steps, options, closing)
    return await serve({ ...steps, admin }, options, closing)
  } catch (error) {
    await closing.disposeAsync()
    throw error
  }
}
