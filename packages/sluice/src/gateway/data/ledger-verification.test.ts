import { appendFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { scratchDirectory } from '../../../../../test/support/scratch.ts'
import { InstallationKey } from '../../identity/keys/installation-key.ts'
import { deriveSigningKey } from '../../identity/keys/signing-key.ts'
import { openLedgerReadOnly } from '../../ledger/chain/read.ts'
import { judgement } from '../../ledger/judgements.test-support.ts'
import { Ledger } from '../../ledger/ledger.ts'
import { RecordIndex } from '../../ledger/query/record-index.ts'
import { LedgerVerification } from './ledger-verification.ts'

test('the verification of a gate compares the chain with its checkpoints and with the query index', async () => {
  const directory = scratchDirectory()
  const signer = deriveSigningKey(InstallationKey.at(directory))
  const ledger = Ledger.open({ directory, checkpoints: { signer } })
  await ledger.event({ atMs: 1, name: 'start', detail: { signedBy: signer.publicKey } })
  for (let n = 0; n < 20; n++) await ledger.intent(judgement(n))
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
  expect(await first).toEqual({ records: 21, signedUpTo: 21, problems: [], indexProblems: [] })
  expect([verification.last, logged]).toEqual([await first, []])

  const checkpoints = join(directory, 'ledger-checkpoints.jsonl')
  renameSync(checkpoints, `${checkpoints}.moved`)
  const missing = ['the checkpoints that the gate has made are missing']
  expect((await verification.verify()).problems).toEqual(missing)
  expect(logged).toEqual([['error', 'the ledger does not verify', { why: missing[0] }]])
  renameSync(`${checkpoints}.moved`, checkpoints)
  expect((await verification.verify()).problems).toEqual([])

  const chain = openLedgerReadOnly(directory)
  const index = new RecordIndex(directory, chain)
  index.catchUp()
  index.close()
  chain.close()
  expect((await verification.verify()).indexProblems).toEqual([])
  const edited = new DatabaseSync(join(directory, 'ledger-index.db'))
  edited.exec('DELETE FROM calls WHERE seq = 7')
  edited.close()
  appendFileSync(checkpoints, 'nonsense\n')
  expect(await verification.verify()).toMatchObject({
    problems: [expect.stringContaining('ledger-checkpoints.jsonl`:')],
    indexProblems: ['record 7 is missing in the index of queries'],
  })
})
