// The title of the tab: what is open in the page, the page, and how many approvals are pending.

import { useEffect } from 'react'
import { SharedValue, useShared } from './shared-value.ts'

/** Of what is open; a tab shows fewer. */
const LENGTH_MAX = 60

const open = new SharedValue('')

/** Names what is open in the page while it is. Text of servers and agents may have invisible
 * characters, which would turn the rest of the title around. */
export function useOpenTitle(text: string | undefined): void {
  const shown = (text ?? '').replace(/\p{C}/gu, ' ').trim().slice(0, LENGTH_MAX)
  useEffect(() => {
    if (shown === '') return
    open.set(shown)
    return () => open.set('')
  }, [shown])
}

export function usePageTitle(page: string, pending: number): void {
  const shown = useShared(open)
  useEffect(() => {
    const parts = [shown, page, 'Sluice'].filter((part) => part !== '')
    document.title = `${pending === 0 ? '' : `(${pending}) `}${parts.join(' · ')}`
    return () => {
      document.title = 'Sluice'
    }
  }, [shown, page, pending])
}
