// A calendar to choose a range of days in; the days are written as they can be typed.

import type { JSX } from 'react'
import { Button } from 'react-aria-components/Button'
import {
  CalendarCell,
  CalendarGrid,
  CalendarHeading,
  RangeCalendar,
} from 'react-aria-components/RangeCalendar'
import { Icon } from '../../ui/icons.tsx'

export function Days({ onDays }: { onDays: (from: string, to: string) => void }): JSX.Element {
  return (
    <RangeCalendar
      aria-label="Days"
      className="calendar"
      onChange={({ start, end }) => onDays(String(start), String(end))}
    >
      <div className="row spread">
        <Button slot="previous" className="btn quiet icon">
          <Icon name="back" />
        </Button>
        <CalendarHeading className="small-head" />
        <Button slot="next" className="btn quiet icon">
          <Icon name="next" />
        </Button>
      </div>
      <CalendarGrid>{(date) => <CalendarCell date={date} className="calendar-day" />}</CalendarGrid>
    </RangeCalendar>
  )
}
