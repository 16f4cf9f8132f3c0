// Light or dark, as the user prefers.

import { type JSX, useState } from 'react'
import { chooseTheme, chosenTheme } from '../theme.ts'
import { Button } from './button.tsx'
import { Icon } from './icons.tsx'

export function ThemeSwitch(): JSX.Element {
  const [theme, setTheme] = useState(chosenTheme)
  const isDark =
    theme === 'dark' || (theme === 'system' && document.documentElement.dataset.theme === 'dark')
  const turn = () => {
    const next = isDark ? 'light' : 'dark'
    chooseTheme(next)
    setTheme(next)
  }
  return (
    <Button kind="quiet" icon onPress={turn} aria-label={isDark ? 'Light colours' : 'Dark colours'}>
      <Icon name={isDark ? 'sun' : 'moon'} />
    </Button>
  )
}
