// A plot over time with a fixed size and fixed colours: lines or stacked areas, drawn by uPlot on a
// canvas, with the values under the pointer. What is not known is a gap. The newest values are in its
// label for screen readers.

import { type JSX, memo, useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
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
  stacked = false,
  height = 150,
  unit,
}: {
  label: string
  times: readonly number[]
  lines: readonly PlotLine[]
  stacked?: boolean
  height?: number
  unit: (value: number) => string
}): JSX.Element {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const data = useMemo(
    () => [times, ...(stacked ? stack(lines) : lines.map(({ values }) => values))],
    [times, lines, stacked],
  )
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
          stacked,
          unit,
          onHover: setHover,
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

  const said = lines
    .map(({ says, values }) => `${says} ${unit(values.findLast((value) => value !== null) ?? 0)}`)
    .join(', ')
  return (
    <figure className="plot">
      <div ref={place} role="img" aria-label={`${label}: now ${said}`} />
      {hover !== undefined && (
        <div
          className={`plot-tip${hover.leftPx > 160 ? ' before' : ''}`}
          style={{ left: hover.leftPx }}
          aria-hidden="true"
        >
          <b className="num">{clock(times[hover.at] ?? 0)}</b>
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
  stacked,
  unit,
  onHover,
}: {
  readonly width: number
  readonly height: number
  readonly lines: readonly PlotLine[]
  readonly stacked: boolean
  readonly unit: (value: number) => string
  readonly onHover: (hover: { at: number; leftPx: number } | undefined) => void
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
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    legend: { show: false },
    hooks: {
      setCursor: [
        ({ bbox, cursor: { idx, left } }) =>
          onHover(
            idx == null || left === undefined || left < 0
              ? undefined
              : { at: idx, leftPx: left + bbox.left / devicePixelRatio },
          ),
      ],
    },
    padding: [8, 30, 0, 0],
    scales: {
      x: { range: (plot) => [plot.data[0][0] ?? 0, plot.data[0].at(-1) ?? 1] },
      y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] },
    },
    axes: [
      { ...axis, size: 24, space: 90, values: (_: uPlot, splits: number[]) => splits.map(clock) },
      { ...axis, size: 52, values: (_: uPlot, splits: number[]) => splits.map(unit) },
    ],
    series: [
      {},
      ...lines.map((line) => ({
        label: line.says,
        stroke: colour(line.colour),
        width: 1.5,
        points: { show: false },
        spanGaps: false,
        ...(stacked ? { fill: `${colour(line.colour)}44` } : {}),
      })),
    ],
  }
}

function clock(seconds: number): string {
  const at = new Date(seconds * 1_000)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}
