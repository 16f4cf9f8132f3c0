// Light or dark: the system's setting, unless the user chose. The choice is stored in the browser.

import { SharedValue, useShared } from './shared-value.ts'
import { readChoice, storeChoice } from './stored-choice.ts'

const KEY = 'sluice-theme'

export type Theme = 'light' | 'dark'

const systemDark = window.matchMedia('(prefers-color-scheme: dark)')
const theme = new SharedValue<Theme>('light')

function apply(): void {
  const stored = readChoice(KEY)
  const system = systemDark.matches ? 'dark' : 'light'
  theme.set(stored === 'light' || stored === 'dark' ? stored : system)
  document.documentElement.dataset.theme = theme.get()
}

export function startTheme(): void {
  apply()
  systemDark.addEventListener('change', apply)
}

/** Turns it to the other one. */
export function turnTheme(): void {
  storeChoice(KEY, theme.get() === 'dark' ? 'light' : 'dark')
  apply()
}

export function useTheme(): Theme {
  return useShared(theme)
}
