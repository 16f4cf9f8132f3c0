// One picker for the range of time: named ranges, and times that are typed, in the zone of the console.

import { type JSX, useState } from 'react'
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog'
import { Popover } from 'react-aria-components/Popover'
import { setQuery } from '../../route.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { minute } from '../../ui/words.ts'
import { chosenZone } from '../../zone.ts'
import type { CallFilter } from './filters.tsx'
import { RANGES, readTime, TIME_FORM, writeTime } from './range.ts'

export function TimeRangePicker({ filter }: { filter: CallFilter }): JSX.Element {
  const { range, sinceMs, untilMs } = filter
  return (
    <DialogTrigger>
      <Button>
        <Icon name="history" /> <span className="visually-hidden">Time:</span> {nameRange(filter)}{' '}
        <Icon name="down" size={10} />
      </Button>
      <Popover className="popover">
        <Dialog aria-label="Time range" className="stack range">
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
                <Typed filter={filter} onTyped={choose} />
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

interface TypedProps {
  readonly filter: CallFilter
  readonly onTyped: (times: Pick<CallFilter, 'sinceMs' | 'untilMs'>) => void
}

function Typed({ filter: { sinceMs, untilMs }, onTyped }: TypedProps): JSX.Element {
  const isUtc = chosenZone() === 'utc'
  const toText = (ms: string) => (ms === '' ? '' : writeTime(Number(ms), isUtc))
  const [from, setFrom] = useState(() => toText(sinceMs))
  const [to, setTo] = useState(() => toText(untilMs))
  const since = readTime(from, { isUtc, isEnd: false })
  const until = readTime(to, { isUtc, isEnd: true })
  const isWrong =
    (since === undefined && from !== '') ||
    (until === undefined && to !== '') ||
    (since !== undefined && until !== undefined && since > until)
  const apply = () => {
    if (isWrong) return
    onTyped({ sinceMs: String(since ?? ''), untilMs: String(until ?? '') })
  }
  return (
    <>
      <TextField
        label="From"
        value={from}
        onChange={setFrom}
        placeholder={TIME_FORM}
        onEnter={apply}
      />
      <TextField label="To" value={to} onChange={setTo} placeholder={TIME_FORM} onEnter={apply} />
      <p className="muted small" role="status">
        {isWrong
          ? `Write a time as ${TIME_FORM}, the earlier one first.`
          : `${isUtc ? 'UTC' : 'Local time'}; a day alone is all of it.`}
      </p>
      <Button kind="primary" isDisabled={isWrong} onPress={apply}>
        Show this range
      </Button>
    </>
  )
}
