// One picker for the range of time: named ranges, days of a calendar, and times that are typed, in the zone of the
// console.

import { type JSX, useState } from 'react'
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog'
import { Popover } from 'react-aria-components/Popover'
import {
  CalendarCell,
  CalendarGrid,
  Heading,
  RangeCalendar,
} from 'react-aria-components/RangeCalendar'
import { setQuery } from '../../route.ts'
import { Button } from '../../ui/button.tsx'
import { DateTimeField } from '../../ui/date-time.tsx'
import { Icon } from '../../ui/icons.tsx'
import { minute } from '../../ui/words.ts'
import { zoneName } from '../../zone.ts'
import type { CallFilter } from './filters.tsx'
import { RANGES, resolveRange, toDays, wholeDays } from './range.ts'

export function TimeRangePicker({ filter }: { filter: CallFilter }): JSX.Element {
  const { range, sinceMs, untilMs } = filter
  return (
    <DialogTrigger>
      <Button>
        <Icon name="history" /> <span className="visually-hidden">Time:</span> {nameRange(filter)}{' '}
        <Icon name="down" size={10} />
      </Button>
      <Popover className="popover scroll">
        <Dialog aria-label="Time range" className="range">
          {({ close }) => {
            const choose = (next: Partial<CallFilter>) => {
              setQuery({ range: '', sinceMs: '', untilMs: '', ...next }, 'push')
              close()
            }
            return (
              <>
                <ul className="range-names">
                  {[{ value: '', says: 'Any time' }, ...RANGES].map(({ value, says }) => (
                    <li key={value}>
                      <Button
                        kind="quiet"
                        aria-pressed={range === value && sinceMs === '' && untilMs === ''}
                        onPress={() => choose({ range: value })}
                      >
                        {says}
                      </Button>
                    </li>
                  ))}
                </ul>
                <div className="stack">
                  <RangeForm filter={filter} onChosen={choose} />
                </div>
              </>
            )
          }}
        </Dialog>
      </Popover>
    </DialogTrigger>
  )
}

function nameRange({ range, sinceMs, untilMs }: CallFilter): string {
  const named = RANGES.find(({ value }) => value === range)?.says
  if (named !== undefined) return named
  if (sinceMs === '' && untilMs === '') return 'Any time'
  const since = sinceMs === '' ? '' : minute(Number(sinceMs))
  return untilMs === '' ? `since ${since}` : `${since} – ${minute(Number(untilMs))}`
}

interface RangeFormProps {
  readonly filter: CallFilter
  readonly onChosen: (times: Pick<CallFilter, 'sinceMs' | 'untilMs'>) => void
}

/** Days are chosen in the calendar and are whole; the times beside it are typed. */
function RangeForm({ filter, onChosen }: RangeFormProps): JSX.Element {
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
