// Whether a page may keep a stream open. A browser has six connections to one gate for all its
// pages together: six hidden pages would leave none for the next one, which would hang silently. So
// a hidden page closes its stream, except for the first, which notifies of pending approvals.

export interface StreamPermit {
  readonly isGiven: boolean
  /** Returns a function that ends it. */
  onChange(listener: () => void): () => void
}

export type StreamPolicy = 'while seen' | 'while seen or first'

export function requestPermit(
  name: string,
  keeps: StreamPolicy,
  ending: AbortSignal,
): StreamPermit {
  const listeners = new Set<() => void>()
  let isFirst = false
  const changed = () => {
    for (const listener of listeners) listener()
  }
  if (keeps === 'while seen or first')
    // Held until the page closes; the next in the queue is then the first.
    void navigator.locks
      ?.request(`sluice ${name}`, { signal: ending }, () => {
        isFirst = true
        changed()
        return new Promise<void>((resolve) =>
          ending.addEventListener('abort', () => resolve(), { once: true }),
        )
      })
      .catch(() => {})
  document.addEventListener('visibilitychange', changed, { signal: ending })
  return {
    get isGiven() {
      return !document.hidden || isFirst
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Resolves when it is granted, or no longer awaited. */
export function waitForPermit(permit: StreamPermit, ending: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!permit.isGiven && !ending.aborted) return
      end()
      resolve()
    }
    const end = permit.onChange(look)
    ending.addEventListener('abort', look, { once: true })
    look()
  })
}
