// Fifth step of a start: reads policies, pins, certificates and servers again if their files change, at
// SIGHUP, and when somebody asks for it.

import { keysPath } from '../config/keys.ts'
import { watchFiles } from '../shared/watch-files.ts'
import { readDocumentsAside } from '../state/documents.ts'
import { lockPath } from '../tools/open-pins.ts'
import type { GateCalls } from './open-calls.ts'
import type { GateData } from './open-data.ts'
import { readServers } from './open-servers.ts'
import type { RunOptions } from './running-gate.ts'

/** Watches the files of policies and servers. Returns a function that reads them at once. */
export function reloadOnChange(
  { data, calls }: { readonly data: GateData; readonly calls: GateCalls },
  { parseConfig }: RunOptions,
  closing: AsyncDisposableStack,
): () => void | Promise<void> {
  const { config, files, late, policies } = data
  const { gate, isolation, lock, servers, views } = calls
  const reload = () => {
    lock.look()
    if (isolation.hasNewKeys())
      for (const [name, { kind }] of servers.entries) if (kind === 'stdio') gate.restart(name)
    late.tls?.look()
    if (parseConfig !== undefined)
      servers.reload(() => {
        const read = readServers(config.file, parseConfig)
        views.reload(read.views)
        return read
      })
    return policies.reload(() => readDocumentsAside(config))
  }
  const watched = [...files, lockPath(config), config.file, keysPath(config.file)]
  closing.defer(watchFiles([...new Set(watched)], reload))
  // On a terminal it means that the person is gone.
  if (!process.stdin.isTTY) {
    process.on('SIGHUP', reload)
    closing.defer(() => void process.off('SIGHUP', reload))
  }
  return reload
}
