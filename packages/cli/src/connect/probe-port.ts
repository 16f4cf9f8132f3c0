// Whether a gate could listen at an address: before another gate is stopped for it, and for `sluice doctor`.

import { createServer } from 'node:net'
import { LocalhostListener } from '@sluice/gateway/front/http/localhost-listener'

/** The code of the error that listening there would give; undefined if it is free. */
export async function probePort(
  host: string,
  port: number,
  hasTls = false,
): Promise<string | undefined> {
  const probe = new LocalhostListener(createServer(), { isAlone: hasTls })
  try {
    await probe.listen(host, port)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  }
  await probe.close()
  return undefined
}
