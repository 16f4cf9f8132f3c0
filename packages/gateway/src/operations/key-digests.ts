// The digests that records have of known arguments: for a search, and for the client of a pipe, which looks for what
// became of its calls. Only a gate has the key of its cluster; the arguments themselves stay with who asks.

import { list, required, text } from '@sluice/policy/document/build-shape'
import { DIGESTS_KEYED_MAX } from './limits.ts'
import { commandOperation } from './operation.ts'

export const KEY_DIGESTS = commandOperation({
  name: 'ledger.digest',
  summary: 'the digests that records have of arguments, by their plain digests',
  role: 'viewer',
  proof: 'none',
  socket: 'ledger-digest',
  command: 'ledger query',
  needsGate: true,
  input: {
    digests: required(list(text(43), DIGESTS_KEYED_MAX), 'SHA-256 of the texts, base64url'),
  },
  run: ({ running: { ledger } }, { digests }) => ({
    keyed: digests.map((digest) => ledger.keyDigest(digest)),
  }),
})
