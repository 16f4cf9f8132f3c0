// Stacked bars over time, with the values under the pointer; a click or a brush selects a stretch of time.
// What is not known is a gap. The newest values are in its label for screen readers.

import { type JSX, memo, type PointerEvent, useState } from 'react'
import { chosenZone } from '../zone.ts'
import { interval, tick } from './words.ts'
import './plot.css'

export interface PlotLine {
  readonly says: string
  /** A custom property of the page. */
  readonly colour: string
  readonly values: readonly (number | null)[]
}

interface PlotProps {
  readonly label: string
  /** When each bar begins, in seconds. */
  readonly times: readonly number[]
  readonly lines: readonly PlotLine[]
  readonly height: number
  readonly unit: (value: number) => string
  /** A stretch that was brushed, or the bar that was clicked; inclusive. */
  readonly onSelect: (fromMs: number, toMs: number) => void
}

/** Shorter brushes are clicks. */
const BRUSH_PX = 4
/** The share of its interval that a bar takes. */
const BAR = 0.9
const LABELS_MAX = 7

/** `lines` and `unit` keep their identity until they change. */
export const Plot = memo(function Plot(props: PlotProps): JSX.Element {
  const { label, times, lines, height, unit, onSelect } = props
  const [at, setAt] = useState<{ readonly share: number; readonly fromShare?: number }>()
  const bars = Math.max(1, times.length)
  const [first = 0, second = first + 60] = times
  const stepMs = (second - first) * 1_000
  const toMs = (share: number) => Math.round(first * 1_000 + share * bars * stepMs)
  const max = toRoundMax(Math.max(0, ...times.map((_, bar) => sumOf(lines, bar))))
  const pointed = at && Math.min(bars - 1, Math.floor(at.share * bars))
  const share = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    return Math.max(0, Math.min(1, (clientX - left) / width))
  }
  const select = (event: PointerEvent) => {
    const to = share(event)
    const from = at?.fromShare ?? to
    setAt({ share: to })
    if (Math.abs(to - from) * event.currentTarget.clientWidth < BRUSH_PX) {
      const bar = Math.min(bars - 1, Math.floor(to * bars)) / bars
      onSelect(toMs(bar), toMs(bar) + stepMs - 1)
    } else onSelect(toMs(Math.min(from, to)), toMs(Math.max(from, to)))
  }
  const now = lines.map(
    ({ says, values }) => `${says} ${unit(values.findLast((value) => value !== null) ?? 0)}`,
  )
  return (
    <figure className="plot">
      <div className="plot-ends num" aria-hidden="true">
        <span>{unit(max)}</span>
        <span>{unit(0)}</span>
      </div>
      <div
        className="plot-over"
        role="img"
        aria-label={`${label}: now ${now.join(', ')}`}
        onPointerMove={(event) => setAt({ ...at, share: share(event) })}
        onPointerLeave={() => setAt(undefined)}
        onPointerDown={(event) => setAt({ share: share(event), fromShare: share(event) })}
        onPointerUp={select}
      >
        <svg
          viewBox={`0 0 ${bars} ${max}`}
          preserveAspectRatio="none"
          height={height - 24}
          aria-hidden="true"
        >
          {lines.map(({ says, colour }, line) => (
            <path key={says} d={drawBars(lines, line, max)} style={{ fill: `var(${colour})` }} />
          ))}
        </svg>
        {at?.fromShare !== undefined && (
          <span
            className="plot-brush"
            style={{
              left: `${Math.min(at.share, at.fromShare) * 100}%`,
              width: `${Math.abs(at.share - at.fromShare) * 100}%`,
            }}
          />
        )}
        {pointed !== undefined && (
          <div
            className={`plot-tip${pointed > bars / 3 ? ' before' : ''}`}
            style={{ left: `${(pointed / bars) * 100}%` }}
            aria-hidden="true"
          >
            <b className="num">{interval(toMs(pointed / bars), toMs((pointed + 1) / bars))}</b>
            {lines.map(({ says, colour, values }) => (
              <span key={says} className="row small">
                <span className="swatch" style={{ background: `var(${colour})` }} />
                {says} <b className="num">{formatValue(values[pointed], unit)}</b>
              </span>
            ))}
          </div>
        )}
      </div>
      <div className="plot-times num" aria-hidden="true">
        {listTicks(toMs(0), toMs(1)).map(({ ms, says }) => (
          <span key={ms} style={{ left: `${((ms - toMs(0)) / (bars * stepMs)) * 100}%` }}>
            {says}
          </span>
        ))}
      </div>
    </figure>
  )
})

function formatValue(value: number | null | undefined, unit: (value: number) => string): string {
  return value == null ? '–' : unit(value)
}

function sumOf(lines: readonly PlotLine[], bar: number): number {
  return lines.reduce((sum, { values }) => sum + (values[bar] ?? 0), 0)
}

/** The bars of a line stand on those of the lines after it. */
function drawBars(lines: readonly PlotLine[], line: number, max: number): string {
  return (lines[line]?.values ?? [])
    .map((value, bar) => {
      const top = max - sumOf(lines.slice(line), bar)
      return value ? `M${bar} ${top}h${BAR}v${value}h-${BAR}z` : ''
    })
    .join('')
}

/** The next number that begins with 1, 2 or 5 and ends with zeros. */
function toRoundMax(max: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, max)))
  return ([1, 2, 5, 10].find((one) => one * unit >= max) ?? 10) * unit
}

const STEPS_MS = [
  ...[1, 10, 100].flatMap((ms) => [ms, 2 * ms, 5 * ms]),
  ...[1, 5, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 3, 6, 12].map((hours) => hours * 3_600_000),
  ...[1, 2, 5, 7, 14].map((days) => days * 86_400_000),
]

/** Round times in the zone that is shown. */
function listTicks(fromMs: number, toMs: number): { ms: number; says: string }[] {
  const spanMs = toMs - fromMs
  const stepMs = STEPS_MS.find((one) => spanMs / one <= LABELS_MAX) ?? spanMs
  const aheadMs = chosenZone() === 'utc' ? 0 : new Date(fromMs).getTimezoneOffset() * -60_000
  const first = Math.ceil((fromMs + aheadMs) / stepMs) * stepMs - aheadMs
  const length = Math.max(0, Math.floor((toMs - first) / stepMs) + 1)
  return Array.from({ length }, (_, at) => first + at * stepMs).map((ms) => ({
    ms,
    says: tick(ms, { spanMs, stepMs }),
  }))
}
