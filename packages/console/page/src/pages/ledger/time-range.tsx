// One picker for the range of time: named ranges, and days and times (day-range.tsx, loaded when it is opened).

import { type JSX, lazy, Suspense } from 'react'
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog'
import { Popover } from 'react-aria-components/Popover'
import { setQuery } from '../../route.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { minute } from '../../ui/words.ts'
import type { CallFilter } from './filters.tsx'
import { RANGES } from './range.ts'

const DayRange = lazy(async () => ({ default: (await import('./day-range.tsx')).DayRange }))

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
                  <Suspense>
                    <DayRange filter={filter} onChosen={choose} />
                  </Suspense>
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
