// The icons, drawn on a grid of 16 (icons.json). Decisions differ by shape as well as by colour: a tick in a
// circle, a diamond, a cross in an octagon, a broken circle, an hourglass.

import type { JSX } from 'react'
import paths from './icons.json' with { type: 'json' }

export type IconName = keyof typeof paths

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
      <path d={paths[name]} />
    </svg>
  )
}
