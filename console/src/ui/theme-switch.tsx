// Light or dark, as the user prefers.

import { type JSX, useSyncExternalStore } from 'react'
import { chooseTheme } from '../theme.ts'
import { Button } from './button.tsx'
import { Icon } from './icons.tsx'

/** The system may change it, too. */
function subscribe(listener: () => void): () => void {
  window.addEventListener('sluice-theme', listener)
  return () => window.removeEventListener('sluice-theme', listener)
}

const isDarkNow = (): boolean => document.documentElement.dataset.theme === 'dark'

export function ThemeSwitch(): JSX.Element {
  const isDark = useSyncExternalStore(subscribe, isDarkNow)
  const turn = () => chooseTheme(isDark ? 'light' : 'dark')
  return (
    <Button kind="quiet" icon onPress={turn} aria-label={isDark ? 'Light colours' : 'Dark colours'}>
      <Icon name={isDark ? 'sun' : 'moon'} />
    </Button>
  )
}
