// A secret of a server that cannot be read, as a failure: the caller learns which server and who can repair it, and a
// person reads which file in the log and in `sluice status`.

import type { UpstreamFailure } from './upstream.ts'

export function describeSecretFault(
  server: string,
  detail: string,
): Pick<UpstreamFailure, 'code' | 'message' | 'detail'> {
  const message = `a secret of the server \`${server}\` cannot be read, so nothing was sent: its person finds which in \`sluice status\` and the log of the gate`
  return { code: 'UPSTREAM_SECRET', message, detail: `${detail} (of the server \`${server}\`)` }
}
