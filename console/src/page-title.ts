// The title of the tab: what is open in the page, the page, and how many approvals are pending.

import { useEffect, useSyncExternalStore } from 'react'

/** Of what is open; a tab shows fewer. */
const LENGTH_MAX = 60

let open = ''
const listeners = new Set<() => void>()

function setOpen(text: string): void {
  open = text
  for (const listener of listeners) listener()
}

/** Names what is open in the page while it is. Text of servers and agents may have invisible
 * characters, which would turn the rest of the title around. */
export function useOpenTitle(text: string | undefined): void {
  const shown = (text ?? '').replace(/\p{C}/gu, ' ').trim().slice(0, LENGTH_MAX)
  useEffect(() => {
    if (shown === '') return
    setOpen(shown)
    return () => setOpen('')
  }, [shown])
}

export function usePageTitle(page: string, pending: number): void {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => open,
  )
  useEffect(() => {
    const parts = [shown, page, 'Sluice'].filter((part) => part !== '')
    document.title = `${pending === 0 ? '' : `(${pending}) `}${parts.join(' · ')}`
    return () => {
      document.title = 'Sluice'
    }
  }, [shown, page, pending])
}
