import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { expect, onTestFinished, test, vi } from 'vitest'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { openRecorder } from './open-recorder.ts'

test('a recording that has expired is deleted, also if the clock was set back', async () => {
  const directory = scratchDirectory()
  const ledger = { event: async () => 1 }
  const key = new InstallationKey(Buffer.alloc(32, 7))
  const closing = new AsyncDisposableStack()
  const open = () => openRecorder(directory, { key, ledger, log() {} }, closing)
  const traces = open()
  await traces.start({ by: 'ann', forMs: 60_000, keepMs: 0 })
  await traces.stop('enough')
  expect(traces.list()).toHaveLength(1)
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000)
  onTestFinished(() => clock.mockRestore())
  expect(open().list()).toHaveLength(0)
  await closing.disposeAsync()
})
