// Keys that work wherever the focus is, and steps through a list by keys.

import { useEffect, useRef } from 'react'

/** Keys with Ctrl, Alt or Meta are the browser's. A key that `press` returns true for does nothing else. */
export function useKeys(press: (event: KeyboardEvent, target: Element) => boolean): void {
  const latest = useRef(press)
  latest.current = press
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return
      if (latest.current(event, event.target as Element)) event.preventDefault()
    }
    window.addEventListener('keydown', listener)
    return () => window.removeEventListener('keydown', listener)
  }, [])
}

/** Where arrows, j, k, Page Up and Down, Home and End lead in a list; undefined for other keys. */
export function stepFrom(
  key: string,
  at: number,
  { page = 1, last }: { page?: number; last: number },
): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    j: at + 1,
    ArrowUp: at - 1,
    k: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: last,
  }
  const to = steps[key]
  return to === undefined ? undefined : Math.max(0, Math.min(last, to))
}

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, .cm-editor') !== null
}
