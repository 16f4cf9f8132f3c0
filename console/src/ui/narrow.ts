// Whether the page is as narrow as a phone, as the style sheets have it.

import { useSyncExternalStore } from 'react'

const narrow = window.matchMedia('(max-width: 720px)')

export function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      narrow.addEventListener('change', listener)
      return () => narrow.removeEventListener('change', listener)
    },
    () => narrow.matches,
  )
}
