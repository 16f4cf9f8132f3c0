// A time that is typed part by part: an ISO date and a clock of 24 hours, in the zone of the console.

import { fromAbsolute, now } from '@internationalized/date'
import type { JSX } from 'react'
import { DateField, DateInput, DateSegment } from 'react-aria-components/DateField'
import { Label } from 'react-aria-components/Label'
import { zoneName } from '../zone.ts'

interface TimeFieldProps {
  readonly label: string
  /** Undefined if no time is given. */
  readonly value: number | undefined
  readonly onChange: (ms: number | undefined) => void
}

/** To the minute. */
export function DateTimeField({ label, value, onChange }: TimeFieldProps): JSX.Element {
  const zone = zoneName()
  return (
    <DateField
      className="field"
      granularity="minute"
      hourCycle={24}
      hideTimeZone
      shouldForceLeadingZeros
      placeholderValue={now(zone).set({ hour: 0, minute: 0, second: 0, millisecond: 0 })}
      value={
        // What is added to make a minute whole is not part of what is typed.
        value === undefined ? null : fromAbsolute(value, zone).set({ second: 0, millisecond: 0 })
      }
      onChange={(time) => onChange(time?.toDate().getTime())}
    >
      <Label>{label}</Label>
      <DateInput className="input">{(segment) => <DateSegment segment={segment} />}</DateInput>
    </DateField>
  )
}
