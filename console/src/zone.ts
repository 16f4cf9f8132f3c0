// The time zone that times are shown in: the browser's, unless the user chose UTC. The choice is stored
// in the browser, as that of light or dark is; the page is drawn again when it changes.

import { useSyncExternalStore } from 'react'

const KEY = 'sluice-zone'

export type Zone = 'local' | 'utc'

const listeners = new Set<() => void>()
let zone: Zone = read()

export function chosenZone(): Zone {
  return zone
}

export function chooseZone(next: Zone): void {
  zone = next
  try {
    if (next === 'local') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, next)
  } catch {
    // Storage may be disabled; then the choice lasts as long as the page.
  }
  for (const listener of listeners) listener()
}

export function useZone(): Zone {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, chosenZone)
}

function read(): Zone {
  try {
    return localStorage.getItem(KEY) === 'utc' ? 'utc' : 'local'
  } catch {
    return 'local'
  }
}
