import { appendFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { deriveSigningKey } from '@sluice/access/identity/keys/signing-key'
import { decisionEntry } from '@sluice/ledger/decision-entries.test-support'
import { Ledger } from '@sluice/ledger/ledger'
import { expect, onTestFinished, test } from 'vitest'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { LedgerVerification } from './ledger-verification.ts'

test('the verification of a gate compares the chain with its checkpoints', async () => {
  const directory = scratchDirectory()
  const signer = deriveSigningKey(InstallationKey.at(directory))
  const ledger = Ledger.open({ directory, checkpoints: { signer } })
  await ledger.event({ atMs: 1, name: 'start', detail: { signedBy: signer.publicKey } })
  for (let n = 0; n < 20; n++) await ledger.intent(decisionEntry(n))
  ledger.close()
  const logged: unknown[] = []
  const verification = new LedgerVerification({
    directory,
    key: signer.publicKey,
    log: (level, message, fields) => void logged.push([level, message, fields]),
  })
  onTestFinished(() => verification.close())
  expect(verification.last).toBe(undefined)
  const [first, second] = [verification.verify(), verification.verify()]
  // Of two people who ask at the same time.
  expect(second).toBe(first)
  expect(await first).toEqual({ records: 21, signedUpTo: 21, problems: [] })
  expect([verification.last, logged]).toEqual([await first, []])

  const checkpoints = join(directory, 'ledger-checkpoints.jsonl')
  renameSync(checkpoints, `${checkpoints}.moved`)
  const missing = ['the checkpoints that the gate has made are missing']
  expect((await verification.verify()).problems).toEqual(missing)
  expect(logged).toEqual([['error', 'the ledger does not verify', { why: missing[0] }]])
  renameSync(`${checkpoints}.moved`, checkpoints)
  expect((await verification.verify()).problems).toEqual([])

  appendFileSync(checkpoints, 'nonsense\n')
  expect((await verification.verify()).problems).toEqual([
    expect.stringContaining('ledger-checkpoints.jsonl`:'),
  ])
})
