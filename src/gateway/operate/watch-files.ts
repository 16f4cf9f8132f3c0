// Watches files by looking at them every so often: also where an editor puts another file in place of
// one, or the file comes later, or the disk is somewhere else. Used for the policy documents.

import { type StatsListener, unwatchFile, watchFile } from 'node:fs'
import { POLICY_LOOK_EVERY_MS } from '../limits.ts'

/** Returns what ends it. */
export function watchFiles(files: readonly string[], onChange: () => void): () => void {
  const listener: StatsListener = (now, before) => {
    if (now.mtimeMs !== before.mtimeMs || now.size !== before.size || now.ino !== before.ino)
      onChange()
  }
  const options = { interval: POLICY_LOOK_EVERY_MS, persistent: false }
  for (const file of files) watchFile(file, options, listener)
  return () => {
    for (const file of files) unwatchFile(file, listener)
  }
}
