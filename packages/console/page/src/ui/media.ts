// Whether the page is as narrow as a phone, or wide enough for a drawer beside a list, as the style sheets
// have it.

import { useSyncExternalStore } from 'react'

const SIZES = {
  phone: window.matchMedia('(max-width: 720px)'),
  /** A tablet, or half of a screen: columns that matter less are left out. */
  narrow: window.matchMedia('(min-width: 721px) and (max-width: 1000px)'),
  wide: window.matchMedia('(min-width: 1200px)'),
} as const

export function useMedia(size: keyof typeof SIZES): boolean {
  const media = SIZES[size]
  return useSyncExternalStore(
    (listener) => {
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    () => media.matches,
  )
}
