// A call as one line, with what rules in shadow mode would have done.

import { expect, test } from 'vitest'
import type { DecisionRecord } from '../../ledger/records/record.ts'
import { Output } from '../../terminal/output.ts'
import { callLine } from './lines.ts'

test('the verdicts of shadow rules stand behind the call, printable', () => {
  const shadow = [
    { rule: 'r1', action: 'deny', code: 'DENIED', reason: 'not \u001b[31mnow', limits: [] },
    { rule: 'r2', action: 'require_approval', code: 'APPROVAL_REQUIRED', reason: '', limits: [] },
  ]
  const record = (of: object) =>
    ({
      kind: 'refusal',
      seq: 1,
      atMs: 0,
      principal: { id: 'ann' },
      agent: null,
      server: 'shop',
      method: 'tools/call',
      name: 'pay',
      decision: { action: 'deny', code: 'DENIED', reason: 'no', shadow: [], ...of },
    }) as unknown as DecisionRecord
  const line = (of: object) => callLine({ record: record(of), outcome: null }, new Output({}))
  expect(line({})).toMatch(/DENIED: no$/)
  expect(line({ shadow })).toMatch(/shadow: deny by r1 \(not .*\), require_approval by r2$/)
  expect(line({ shadow })).not.toContain('\u001b')
  const guessed = { ...record({}), category: 'Destructive' as const, unknown: true }
  expect(callLine({ record: guessed, outcome: null }, new Output({}))).toMatch(
    /DENIED: no {2}unknown class, perhaps Destructive$/,
  )
  const named = { record: record({}), outcome: null, sessionName: '"chat\u001b 1" (self-reported)' }
  expect(callLine(named, new Output({}))).toMatch(/session "chat.* 1" \(self-reported\)$/)
  expect(callLine(named, new Output({}))).not.toContain('\u001b')
})
