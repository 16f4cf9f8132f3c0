// Light or dark: the system's setting, unless the user chose. Only this choice is stored in the
// browser; no data of a server or the gate is.

import { readChoice, storeChoice } from './stored-choice.ts'

const KEY = 'sluice-theme'

export type Theme = 'light' | 'dark' | 'system'

const systemDark = window.matchMedia('(prefers-color-scheme: dark)')

function chosenTheme(): Theme {
  const stored = readChoice(KEY)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

export function chooseTheme(theme: Theme): void {
  storeChoice(KEY, theme === 'system' ? undefined : theme)
  apply(theme)
}

function apply(theme: Theme): void {
  const dark = theme === 'dark' || (theme === 'system' && systemDark.matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
  window.dispatchEvent(new Event('sluice-theme'))
}

export function startTheme(): void {
  apply(chosenTheme())
  systemDark.addEventListener('change', () => apply(chosenTheme()))
}
