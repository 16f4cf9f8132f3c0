// Times in the zone of this browser, or in UTC as logs of servers have them.

import type { JSX } from 'react'
import { chooseZone, useZone } from '../zone.ts'
import { Button } from './button.tsx'

export function ZoneSwitch(): JSX.Element {
  const isUtc = useZone() === 'utc'
  return (
    <Button
      kind="quiet"
      aria-label={isUtc ? 'UTC: show local times' : 'Local time: show UTC times'}
      onPress={() => chooseZone(isUtc ? 'local' : 'utc')}
    >
      {isUtc ? 'UTC' : 'Local'}
    </Button>
  )
}
