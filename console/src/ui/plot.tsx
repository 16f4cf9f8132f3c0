// A plot over time with a fixed size and fixed colours: stacked bars, drawn by uPlot on a canvas, with the values under the pointer; a click or a brush selects a stretch of time.
// What is not known is a gap. The newest values are in its label for screen readers.

import { type JSX, memo, useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { interval, tick } from './words.ts'
import './plot.css'

export interface PlotLine {
  readonly says: string
  /** A custom property of the page. */
  readonly colour: string
  readonly values: readonly (number | null)[]
}

/** `lines` and `unit` keep their identity until they change. */
export const Plot = memo(function Plot({
  label,
  times,
  lines,
  height = 150,
  unit,
  onSelect,
}: {
  label: string
  times: readonly number[]
  lines: readonly PlotLine[]
  height?: number
  unit: (value: number) => string
  /** A stretch that was brushed, or the bar that was clicked; inclusive. */
  onSelect?: (fromMs: number, toMs: number) => void
}): JSX.Element {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const data = useMemo(() => [times, ...stack(lines)], [times, lines])
  const select = useRef(onSelect)
  select.current = onSelect
  const latest = useRef(data)
  latest.current = data
  const [hover, setHover] = useState<{ readonly at: number; readonly leftPx: number }>()
  const names = lines.map(({ says, colour }) => `${says}${colour}`).join()

  // biome-ignore lint/correctness/useExhaustiveDependencies: rebuilt only for other lines
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const make = () => {
      plot.current?.destroy()
      plot.current = new uPlot(
        createOptions({
          width: element.clientWidth,
          height,
          lines,
          unit,
          onHover: setHover,
          onSelect: onSelect === undefined ? undefined : (...span) => select.current?.(...span),
        }),
        latest.current as uPlot.AlignedData,
        element,
      )
    }
    make()
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height }),
    )
    resized.observe(element)
    window.addEventListener('sluice-theme', make)
    return () => {
      resized.disconnect()
      window.removeEventListener('sluice-theme', make)
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [names, height])

  useEffect(() => {
    plot.current?.setData(data as uPlot.AlignedData)
  }, [data])

  const description = lines
    .map(({ says, values }) => `${says} ${unit(values.findLast((value) => value !== null) ?? 0)}`)
    .join(', ')
  return (
    <figure className="plot">
      <div
        ref={place}
        style={{ minHeight: height }}
        role="img"
        aria-label={`${label}: now ${description}`}
      />
      {hover !== undefined && (
        <div
          className={`plot-tip${hover.leftPx > 160 ? ' before' : ''}`}
          style={{ left: hover.leftPx }}
          aria-hidden="true"
        >
          <b className="num">{nameTime(times, hover.at)}</b>
          {lines.map(({ says, colour, values }) => (
            <span key={says} className="row small">
              <span className="swatch" style={{ background: `var(${colour})` }} />
              {says} <b className="num">{formatValue(values[hover.at], unit)}</b>
            </span>
          ))}
        </div>
      )}
    </figure>
  )
})

function formatValue(value: number | null | undefined, unit: (value: number) => string): string {
  return value === null || value === undefined ? '–' : unit(value)
}

function stack(lines: readonly PlotLine[]): (number | null)[][] {
  const sums: number[] = []
  const stacked = [...lines].reverse().map(({ values }) =>
    values.map((value, at) => {
      if (value === null) return null
      sums[at] = (sums[at] ?? 0) + value
      return sums[at] ?? 0
    }),
  )
  return stacked.reverse()
}

function createOptions({
  width,
  height,
  lines,
  unit,
  onHover,
  onSelect,
}: {
  readonly width: number
  readonly height: number
  readonly lines: readonly PlotLine[]
  readonly unit: (value: number) => string
  readonly onHover: (hover: { at: number; leftPx: number } | undefined) => void
  readonly onSelect: ((fromMs: number, toMs: number) => void) | undefined
}): uPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const font = `11px ${style.getPropertyValue('--font')}`
  const axis = {
    font,
    stroke: colour('--muted'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  }
  return {
    width,
    height,
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: onSelect !== undefined, y: false, setScale: false },
    },
    legend: { show: false },
    hooks: {
      setCursor: [
        (plot) => {
          const { left = -1 } = plot.cursor
          const at = left < 0 ? undefined : findPointed(plot)
          onHover(
            at === undefined ? undefined : { at, leftPx: left + plot.bbox.left / devicePixelRatio },
          )
        },
      ],
      ...(onSelect === undefined
        ? {}
        : {
            setSelect: [
              (plot: uPlot) => {
                if (plot.select.width < BRUSH_PX) return
                const toMs = (px: number) => Math.round(plot.posToVal(px, 'x') * 1_000)
                onSelect(toMs(plot.select.left), toMs(plot.select.left + plot.select.width))
                plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
              },
            ],
            ready: [
              (plot: uPlot) =>
                plot.over.addEventListener('click', () => {
                  const at = findPointed(plot)
                  const fromS = at === undefined ? undefined : plot.data[0][at]
                  if (fromS === undefined || plot.select.width >= BRUSH_PX) return
                  onSelect(
                    Math.round(fromS * 1_000),
                    Math.round((fromS + stepOf(plot)) * 1_000) - 1,
                  )
                }),
            ],
          }),
    },
    padding: [8, endOf, 0, 0],
    scales: {
      x: {
        range: (plot) => {
          const last = plot.data[0].at(-1) ?? 1
          return [plot.data[0][0] ?? 0, last + stepOf(plot)]
        },
      },
      y: { range: (_, __, max) => [0, toRoundMax(max)] },
    },
    axes: [
      { ...axis, size: 24, incrs: STEPS_S, space: spaceOf, values: toTicks },
      {
        ...axis,
        size: 52,
        // Also a low plot says how high it is.
        splits: toEnds,
        filter: (_: uPlot, splits: number[]) => splits,
        values: (_: uPlot, splits: number[]) => splits.map(unit),
      },
    ],
    series: [
      {},
      ...lines.map((line) => ({
        label: line.says,
        stroke: colour(line.colour),
        width: 0,
        points: { show: false },
        paths: BARS,
        fill: colour(line.colour),
      })),
    ],
  }
}

function nameTime(times: readonly number[], at: number): string {
  const fromMs = (times[at] ?? 0) * 1_000
  return interval(fromMs, fromMs + stepBetween(times) * 1_000)
}

/** uPlot finds the nearest time, which in the second half of a bar is that of the next. */
function findPointed(plot: uPlot): number | undefined {
  const { left } = plot.cursor
  if (left === undefined) return undefined
  const at = Math.floor((plot.posToVal(left, 'x') - (plot.data[0][0] ?? 0)) / stepOf(plot))
  return at >= 0 && at < plot.data[0].length ? at : undefined
}

/** Shorter brushes are clicks. */
const BRUSH_PX = 4
const BARS = uPlot.paths.bars?.({ size: [0.9], align: 1 }) ?? (() => null)

function stepOf({ data: [times] }: uPlot): number {
  return stepBetween(times)
}

/** One time alone is that of a minute. */
function stepBetween([first = 0, second = first + 60]: ArrayLike<number> &
  Iterable<number>): number {
  return second - first
}

/** Steps of the time axis. uPlot knows none between one and five minutes, nor between one and seven days. */
const STEPS_S = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((ms) => ms / 1_000),
  1,
  5,
  10,
  15,
  30,
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60),
  ...[1, 2, 3, 6, 12].map((hours) => hours * 3_600),
  ...[1, 2, 4, 7, 14, 28].map((days) => days * 86_400),
]

/** The next number that begins with 1, 2 or 5 and ends with zeros. */
function toRoundMax(max: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, max)))
  return ([1, 2, 5, 10].find((one) => one * unit >= max) ?? 10) * unit
}

function toEnds(_: uPlot, __: number, from: number, to: number): number[] {
  return [from, to]
}

/** Room for half of the last label: labels with milliseconds are the widest. */
function endOf({ scales: { x } }: uPlot): number {
  return (x?.max ?? 0) - (x?.min ?? 0) < 10 ? 40 : 24
}

/** Labels with seconds or a day are wider. */
function spaceOf({ bbox }: uPlot, _: number, fromS: number, toS: number): number {
  const lengthS = toS - fromS
  if (lengthS > 2 * 86_400) return 80
  // So close that they would have seconds.
  const stepS = (lengthS * SPACE_PX) / Math.max(1, bbox.width / devicePixelRatio)
  return stepS < 1 ? 110 : stepS < 60 ? 80 : SPACE_PX
}

const SPACE_PX = 38

function toTicks({ data: [times] }: uPlot, splits: number[]): string[] {
  const spanMs = ((times.at(-1) ?? 0) - (times[0] ?? 0)) * 1_000
  const stepMs = ((splits[1] ?? 0) - (splits[0] ?? 0)) * 1_000
  return splits.map((at) => tick(at * 1_000, { spanMs, stepMs }))
}
