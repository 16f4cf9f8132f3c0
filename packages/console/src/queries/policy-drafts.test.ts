// What a text would mean, as far as the stores of the gate say it.

import { Requests, UNDECIDED } from '@sluice/access/approvals/requests'
import { openGateStore } from '@sluice/gateway/data/gate-store'
import { makeDocument } from '@sluice/gateway/state/documents'
import { openLedgerReadOnly } from '@sluice/ledger/chain/read'
import { Ledger } from '@sluice/ledger/ledger'
import { compile } from '@sluice/policy/compile/compile'
import { listRuleTexts } from '@sluice/policy/model/canonical-rule'
import { APPROVAL_DEFAULT } from '@sluice/policy/model/rule'
import { expect, test } from 'vitest'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { PolicyDrafts } from './policy-drafts.ts'

const REFUND = (max: number) =>
  `version: 1\ndefault: deny\ntools: { shop/refund: { action: allow, when: args.amount <= ${max}, otherwise: require_approval } }\n`

test('a draft counts the requests for approval that a save would make void', () => {
  const directory = scratchDirectory()
  Ledger.open({ directory }).close()
  using store = openGateStore(directory)
  using ledger = openLedgerReadOnly(directory)
  const text = REFUND(100)
  const { policy } = compile({ file: '', text })
  const requests = new Requests(store, () => true)
  const hold = (id: string, says: string) =>
    requests.insert(
      {
        ...UNDECIDED,
        id,
        key: id,
        asked: says,
        pin: '',
        atMs: 1,
        expiresAtMs: 2 ** 40,
        principal: { id: 'local', kind: 'local' },
        agent: null,
        session: 's',
        server: 'shop',
        method: 'tools/call',
        name: 'refund',
        category: null,
        risk: null,
        callId: id,
        asks: [{ ...APPROVAL_DEFAULT, rule: '/tools/shop~1refund', reason: '', says }],
        before: [],
      },
      new Uint8Array(),
    )
  const [says = ''] = policy === undefined ? [] : listRuleTexts(policy)
  hold('r1', says)
  hold('r2', says)
  const documents = [['local', makeDocument('local', 'policy.yaml', text)]] as const
  const drafts = new PolicyDrafts(directory, ledger)
  const count = (draft: string) =>
    drafts.draft({ documents, name: 'local', text: draft, replaySinceMs: 0 }).voids
  expect(count(`# A comment.\n${text}`)).toBe(0)
  expect(count(REFUND(990))).toBe(2)
  expect(drafts.draft({ documents, name: 'local', text }).voids).toBeUndefined()
  drafts.close()
})
