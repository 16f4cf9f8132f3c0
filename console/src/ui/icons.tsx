// The icons, drawn on a grid of 16. Decisions differ by shape as well as by colour: a tick in a
// circle, a diamond, a cross in an octagon, a broken circle, an hourglass.

import type { JSX } from 'react'

const PATHS = {
  allow: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM5.3 8.2l1.9 1.9 3.6-4',
  ask: 'M8 1.2 14.8 8 8 14.8 1.2 8ZM8 5v3.4M8 10.9v.1',
  deny: 'M5.4 1.8h5.2l3.6 3.6v5.2l-3.6 3.6H5.4l-3.6-3.6V5.4ZM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4',
  hide: 'M6.2 2.1a6.2 6.2 0 0 1 3.6 0M12.6 3.9a6.2 6.2 0 0 1 1.6 3.2M13.9 10a6.2 6.2 0 0 1-2.2 3M9.4 14a6.2 6.2 0 0 1-3.6-.2M3.4 12.2A6.2 6.2 0 0 1 1.9 9M2.3 5.6a6.2 6.2 0 0 1 1.9-2.4M5.5 8h5',
  limited:
    'M4 1.8h8M4 14.2h8M4.8 1.8c0 3.4 6.4 4.6 6.4 6.2s-6.4 2.8-6.4 6.2M11.2 1.8c0 3.4-6.4 4.6-6.4 6.2s6.4 2.8 6.4 6.2',
  approvals:
    'M2 9.5V4a1.5 1.5 0 0 1 1.5-1.5h9A1.5 1.5 0 0 1 14 4v8a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 2 12ZM2 9.5h3.4l1 1.8h3.2l1-1.8H14',
  overview: 'M2.5 2.5h4.5v5h-4.5ZM9 2.5h4.5v3H9ZM9 7.5h4.5v6H9ZM2.5 9.5h4.5v4h-4.5Z',
  live: 'M1.5 8.5h3l2-5.5 3 10 2-4.5h3',
  servers:
    'M3 2.5h10a1 1 0 0 1 1 1v2.6a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V3.5a1 1 0 0 1 1-1ZM3 8.9h10a1 1 0 0 1 1 1v2.6a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V9.9a1 1 0 0 1 1-1ZM4.6 4.8h.1M4.6 11.2h.1',
  policy:
    'M8 1.5 13.5 3.6v4.1c0 3.3-2.2 5.7-5.5 6.8-3.3-1.1-5.5-3.5-5.5-6.8V3.6ZM5.6 7.9l1.7 1.7 3.1-3.3',
  agents:
    'M5 5.2h6a2 2 0 0 1 2 2v4a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-4a2 2 0 0 1 2-2ZM8 5.2V2.6M8 2.2v.1M5.9 8.6v.9M10.1 8.6v.9',
  ledger:
    'M3.5 2h7.6a1.4 1.4 0 0 1 1.4 1.4V14H4.6a1.4 1.4 0 0 1-1.4-1.4V2.3ZM3.2 12.4c0-.8.6-1.2 1.4-1.2h7.9M5.8 5h4.2M5.8 7.6h4.2',
  settings: 'M2 4.5h7.5M12.5 4.5H14M2 11.5h1.5M6.5 11.5H14M11 3v3M5 10v3',
  filter: 'M2 3h12L9.5 8.5v4.2l-3 1.3V8.5Z',
  search: 'M7 2.2a4.8 4.8 0 1 0 0 9.6 4.8 4.8 0 0 0 0-9.6ZM10.6 10.6 14 14',
  lock: 'M4 7.2h8a.9.9 0 0 1 .9.9v4.8a.9.9 0 0 1-.9.9H4a.9.9 0 0 1-.9-.9V8.1a.9.9 0 0 1 .9-.9ZM5.2 7V5a2.8 2.8 0 0 1 5.6 0v2',
  sun: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1.2v1.4M8 13.4v1.4M1.2 8h1.4M13.4 8h1.4M3.2 3.2l1 1M11.8 11.8l1 1M3.2 12.8l1-1M11.8 4.2l1-1',
  moon: 'M13.6 9.6A6 6 0 0 1 6.4 2.4a6 6 0 1 0 7.2 7.2Z',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  back: 'M9.8 3 4.8 8l5 5',
  next: 'M6.2 3l5 5-5 5',
  down: 'M3.5 6l4.5 4.5L12.5 6',
  plus: 'M8 3v10M3 8h10',
  key: 'M10.4 2.2a3.4 3.4 0 1 0 0 6.8 3.4 3.4 0 0 0 0-6.8ZM8 8l-5.6 5.6M4.4 11.6l1.6 1.6',
  pause: 'M5.5 3v10M10.5 3v10',
  play: 'M4.5 2.8 13 8l-8.5 5.2Z',
  warn: 'M8 2 14.6 13.4H1.4ZM8 6.4v3.2M8 11.6v.1',
  info: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM8 7.4v3.6M8 4.9V5',
  copy: 'M5.5 5.5h7.3v8.3H5.5ZM10.5 5.5V2.2H3.2v8.3h2.3',
  freeze:
    'M8 1.5v13M2.4 4.8l11.2 6.4M13.6 4.8 2.4 11.2M6.2 2.6 8 4.2l1.8-1.6M6.2 13.4 8 11.8l1.8 1.6',
  shield: 'M8 1.5 13.5 3.6v4.1c0 3.3-2.2 5.7-5.5 6.8-3.3-1.1-5.5-3.5-5.5-6.8V3.6Z',
  file: 'M4 1.8h5l3.2 3.2v9.2H4ZM9 1.8V5h3.2',
  fork: 'M5 4.6v6.8M5 3a1.6 1.6 0 1 0 0 .1M5 13a1.6 1.6 0 1 0 0 .1M11.4 4a1.6 1.6 0 1 0 0 .1M11.2 5.6c0 2.6-6.2 2-6.2 4.4',
  stop: 'M4 4h8v8H4Z',
  download: 'M8 2v8.4M4.6 7.2 8 10.6l3.4-3.4M2.5 13.6h11',
  upload: 'M8 10.6V2.2M4.6 5.4 8 2l3.4 3.4M2.5 13.6h11',
  out: 'M9.2 3h3.8v3.8M12.8 3.2 7.6 8.4M11.4 9.4v3.4H3.2V4.6h3.4',
  grip: 'M6 3.5v.1M10 3.5v.1M6 8v.1M10 8v.1M6 12.5v.1M10 12.5v.1',
  todo: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Z',
  doing: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM8 4.6v3.6l2.4 1.6',
  history: 'M2.4 8a5.6 5.6 0 1 1 1.7 4M2.4 8 1 6.4M2.4 8l1.7-1.3M8 5v3.2l2.2 1.4',
  refresh: 'M13.5 3v3.4h-3.4M13.2 6.2A5.6 5.6 0 1 0 13.6 9',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, size = 16 }: { name: IconName; size?: number }): JSX.Element {
  return (
    <svg
      viewBox="0 0 16 16"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
