// Days of a calendar, and times that are typed, in the zone of the console.

import { type JSX, useState } from 'react'
import {
  CalendarCell,
  CalendarGrid,
  Heading,
  RangeCalendar,
} from 'react-aria-components/RangeCalendar'
import { Button } from '../../ui/button.tsx'
import { DateTimeField } from '../../ui/date-time.tsx'
import { Icon } from '../../ui/icons.tsx'
import { zoneName } from '../../zone.ts'
import { toDays, wholeDays } from './days.ts'
import type { CallFilter } from './filters.tsx'
import { resolveRange } from './range.ts'

interface DayRangeProps {
  readonly filter: CallFilter
  readonly onChosen: (times: Pick<CallFilter, 'sinceMs' | 'untilMs'>) => void
}

/** Days are chosen in the calendar and are whole; the times beside it are typed. */
export function DayRange({ filter, onChosen }: DayRangeProps): JSX.Element {
  const zone = zoneName()
  const [{ sinceMs, untilMs }, setTimes] = useState<TypedRange>(() => readTimes(filter, zone))
  const isWrong = sinceMs !== undefined && untilMs !== undefined && sinceMs > untilMs
  return (
    <>
      <RangeCalendar
        aria-label="Days"
        className="calendar"
        firstDayOfWeek="mon"
        value={toDays(sinceMs, untilMs, zone)}
        onChange={(days) => setTimes(wholeDays(days, zone))}
      >
        <header className="row line spread">
          <Button slot="previous" kind="quiet" icon>
            <Icon name="back" />
          </Button>
          <Heading className="small" />
          <Button slot="next" kind="quiet" icon>
            <Icon name="next" />
          </Button>
        </header>
        <CalendarGrid>{(day) => <CalendarCell date={day} />}</CalendarGrid>
      </RangeCalendar>
      <DateTimeField
        label="From"
        value={sinceMs}
        onChange={(ms) => setTimes({ sinceMs: ms, untilMs })}
      />
      <DateTimeField
        label="To"
        value={untilMs}
        onChange={(ms) =>
          setTimes({ sinceMs, untilMs: ms === undefined ? ms : ms + MINUTE_MS - 1 })
        }
      />
      <p className="muted small" role="status">
        {isWrong ? 'The earlier time comes first.' : `${zone}; a time is to the end of its minute.`}
      </p>
      <Button
        kind="primary"
        isDisabled={isWrong}
        onPress={() => onChosen({ sinceMs: String(sinceMs ?? ''), untilMs: String(untilMs ?? '') })}
      >
        Show this range
      </Button>
    </>
  )
}

const MINUTE_MS = 60_000

interface TypedRange {
  /** Undefined: from the first call on. */
  readonly sinceMs?: number | undefined
  /** Undefined: up to now. */
  readonly untilMs?: number | undefined
}

function readTimes({ range, sinceMs, untilMs }: CallFilter, zone: string): TypedRange {
  const typed = (text: string) => (text === '' ? undefined : Number(text))
  return (
    resolveRange(range, Date.now(), zone) ?? { sinceMs: typed(sinceMs), untilMs: typed(untilMs) }
  )
}
