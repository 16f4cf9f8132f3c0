// Watches files: by the system's notice where it gives one, so that a tighter policy holds within
// milliseconds, and by looking every so often besides, for editors that put another file in place,
// files that come later and disks that tell nothing. Used for the policy documents and certificates.

import { type FSWatcher, statSync, unwatchFile, watch, watchFile } from 'node:fs'
import { dirname } from 'node:path'
import { POLICY_LOOK_EVERY_MS, POLICY_NOTICE_MS } from './limits.ts'

/** Returns what ends it. One change is one call, whichever way it was seen. */
export function watchFiles(
  files: readonly string[],
  onChange: () => void,
  everyMs = POLICY_LOOK_EVERY_MS,
): () => void {
  let seen = signOf(files)
  let timer: NodeJS.Timeout | undefined
  const look = (): void => {
    timer = undefined
    const now = signOf(files)
    if (now === seen) return
    seen = now
    onChange()
  }
  /** A write is several notices, and the file is half written between them. */
  const onNotice = (): void => {
    timer ??= setTimeout(look, POLICY_NOTICE_MS)
  }
  for (const file of files) watchFile(file, { interval: everyMs, persistent: false }, look)
  const watchers = [...new Set(files.map((file) => dirname(file)))].flatMap((folder) =>
    watcherOf(folder, onNotice),
  )
  return () => {
    clearTimeout(timer)
    for (const file of files) unwatchFile(file, look)
    for (const watcher of watchers) watcher.close()
  }
}

/** The folder, since a file that is replaced takes its watch with it. None if the system gives no notice. */
function watcherOf(folder: string, onNotice: () => void): FSWatcher[] {
  try {
    const watcher = watch(folder, { persistent: false }, onNotice)
    watcher.on('error', () => watcher.close())
    return [watcher]
  } catch {
    return []
  }
}

function signOf(files: readonly string[]): string {
  return files
    .map((file) => {
      const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
      return stats === undefined ? '-' : `${stats.mtimeNs} ${stats.size} ${stats.ino}`
    })
    .join()
}
