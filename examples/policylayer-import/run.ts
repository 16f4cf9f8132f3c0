// A PolicyLayer policy becomes a Sluice policy, is checked, and decides as the original did.

import { deepStrictEqual, match } from 'node:assert'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runSluice } from '../support/gate.ts'

const original = `
version: "1"
default: deny
tools:
  list_orders:
    rules: []
  create_refund:
    rules:
      - name: small refunds only
        conditions:
          - { path: args.amount, op: lte, value: 5000 }
        on_deny: refunds above 50.00 are not for agents
      - name: pace
        rate_limit: 3/minute
`

const folder = mkdtempSync(join(tmpdir(), 'sluice-example-'))
try {
  writeFileSync(join(folder, 'intercept.yaml'), original)
  const sluice = (...args: string[]) => runSluice(folder, ...args)
  const imported = sluice(
    'policy',
    'import',
    'intercept.yaml',
    '--server',
    'shop',
    '--out',
    'policy.yaml',
  )
  deepStrictEqual(imported.status, 0, imported.output)
  deepStrictEqual(sluice('policy', 'check', 'policy.yaml').status, 0)
  const explain = (tool: string, args: object, ...more: string[]) =>
    sluice(
      'policy',
      'explain',
      `shop/${tool}`,
      '--policy',
      'policy.yaml',
      '--args',
      JSON.stringify(args),
      ...more,
    )
  deepStrictEqual(explain('create_refund', { amount: 1200 }).status, 0)
  const large = explain('create_refund', { amount: 9900 })
  deepStrictEqual(large.status, 1)
  match(large.output, /refunds above 50.00 are not for agents/)
  match(explain('create_refund', { amount: 1200 }, '--repeat', '4').output, /RATE_LIMITED/)
  match(explain('delete_customer', {}).output, /deny DENIED/)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
