// Whether a page may keep a stream open. A browser has six connections to one gate for all its pages
// together: six that nobody looks at would leave none for the one that is opened next, which would hang
// without a word. So a page that is not seen lets go, but for the first, which tells of what waits.

export interface StreamPermit {
  readonly isGiven: boolean
  /** Returns what ends it. */
  onChange(listener: () => void): () => void
}

export type StreamPolicy = 'always' | 'while seen' | 'while seen or first'

export function attentionFor(name: string, keeps: StreamPolicy, ending: AbortSignal): StreamPermit {
  const listeners = new Set<() => void>()
  let isFirst = false
  const changed = () => {
    for (const listener of listeners) listener()
  }
  if (keeps === 'while seen or first')
    // Held until the page goes; the next in line is then the first.
    void navigator.locks
      ?.request(`sluice ${name}`, { signal: ending }, () => {
        isFirst = true
        changed()
        return new Promise<void>((resolve) =>
          ending.addEventListener('abort', () => resolve(), { once: true }),
        )
      })
      .catch(() => {})
  if (keeps !== 'always') {
    document.addEventListener('visibilitychange', changed)
    ending.addEventListener(
      'abort',
      () => document.removeEventListener('visibilitychange', changed),
      { once: true },
    )
  }
  return {
    get isGiven() {
      return keeps === 'always' || !document.hidden || isFirst
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Resolves when it is given, or nobody waits for it any more. */
export function given(attention: StreamPermit, ending: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!attention.isGiven && !ending.aborted) return
      end()
      resolve()
    }
    const end = attention.onChange(look)
    ending.addEventListener('abort', look, { once: true })
    look()
  })
}
