// Records of the ledger as somebody may have left them on the disk: decoded, or refused as damaged.

import { decode, decodeCall, decodeCharges } from '../../../packages/ledger/src/records/decoding.ts'
import { LedgerError } from '../../../packages/ledger/src/records/errors.ts'

const INTENT = JSON.stringify([
  1,
  7,
  1,
  1_800_000_000_000,
  [['k', 'rate', 60_000, '3', '1']],
  [],
  'call',
  'ann',
  'grant',

  null,
  'ann#1@1',
  'pay',
  'tools/call',
  'refund',
  'Write',
  'house',
  'allow',
  'ALLOWED',
  '/tools/0',
  'because',
  [],
  0,
  'digest',
])

export const seeds = [
  INTENT,
  '[1,8,3,1800000000000,7,"answered",12,34,null,"d",[],1,false]',
  '[1,9,4,1800000000000,"freeze",{"server":"pay"}]',
]

export function run(input: Buffer): void {
  const text = input.toString('utf8')
  refusing(() => void decode(text))
  refusing(() => void decodeCall(text))
  refusing(() => void decodeCharges(input, Math.min(input.length, input.indexOf('[['))))
}

function refusing(read: () => void): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
  }
}
