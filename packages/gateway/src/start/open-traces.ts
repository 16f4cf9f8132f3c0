// The recorder of traces of a running gate; off until a person turns it on.

import type { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { processClock } from '@sluice/ledger/store/process-clock'
import { TraceRecorder, type TraceRecorderParts } from '../traces/trace-recorder.ts'

export function openTraces(
  directory: string,
  { key, ledger, log }: Pick<TraceRecorderParts, 'ledger' | 'log'> & { key: InstallationKey },
  closing: AsyncDisposableStack,
): TraceRecorder {
  const own = key.derive('traces', 32)
  const traces = new TraceRecorder({ directory, key: own, ledger, log, nowMs: processClock.nowMs })
  closing.defer(() => traces.close())
  return traces
}
