// How much CPU this thread takes between one turn of the event loop and the next: whether long work is
// done in one piece or in many. CPU and not time, so that a busy machine changes little.

export interface ThreadPieces {
  readonly turns: number
  readonly longestMs: number
  readonly totalMs: number
}

/** Watches from now on; the function that is returned ends that and says what was seen. */
export function watchPieces(): () => ThreadPieces {
  const found = { turns: 0, longestMs: 0, totalMs: 0 }
  let last = process.threadCpuUsage()
  let isOver = false
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(last)
    last = process.threadCpuUsage()
    const ms = (user + system) / 1_000
    found.turns++
    found.totalMs += ms
    found.longestMs = Math.max(found.longestMs, ms)
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  return () => {
    isOver = true
    return found
  }
}
