// The recorder of traces of a running gate; off until a person turns it on.

import type { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { processClock } from '@sluice/ledger/store/process-clock'
import { CallRecorder, type CallRecorderParts } from '../recordings/call-recorder.ts'

export function openRecorder(
  directory: string,
  { key, ledger, log }: Pick<CallRecorderParts, 'ledger' | 'log'> & { key: InstallationKey },
  closing: AsyncDisposableStack,
): CallRecorder {
  const own = key.derive('traces', 32)
  const recorder = new CallRecorder({ directory, key: own, ledger, log, nowMs: processClock.nowMs })
  closing.defer(() => recorder.close())
  return recorder
}
