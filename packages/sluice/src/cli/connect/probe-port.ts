// Whether a gate could listen at an address: before another gate is stopped for it, and for `sluice doctor`.

import { createServer } from 'node:net'

/** The code of the error that listening there would give; undefined if it is free. */
export function probePort(host: string, port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const probe = createServer()
    probe.once('error', ({ code }: NodeJS.ErrnoException) => done(code ?? 'unknown'))
    probe.listen(port, host, () => probe.close(() => done(undefined)))
  })
}
