// The time zone that times are shown in: the browser's, unless the user chose UTC. The choice is stored
// in the browser, as that of light or dark is; the page is drawn again when it changes.

import { SharedValue, useShared } from './shared-value.ts'
import { readChoice, storeChoice } from './stored-choice.ts'

const KEY = 'sluice-zone'

export type Zone = 'local' | 'utc'

const zone = new SharedValue<Zone>(readChoice(KEY) === 'utc' ? 'utc' : 'local')

export const chosenZone = zone.get

/** Read once: every time that is shown asks for it. */
const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The IANA name of the zone that was chosen. */
export function zoneName(): string {
  return zone.get() === 'utc' ? 'UTC' : OWN_ZONE
}

export function chooseZone(next: Zone): void {
  storeChoice(KEY, next === 'local' ? undefined : next)
  zone.set(next)
}

export function useZone(): Zone {
  return useShared(zone)
}
