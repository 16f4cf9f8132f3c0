// Light or dark, as the user prefers.

import type { JSX } from 'react'
import { turnTheme, useTheme } from '../theme.ts'
import { Button } from './button.tsx'
import { Icon } from './icons.tsx'

export function ThemeSwitch(): JSX.Element {
  const isDark = useTheme() === 'dark'
  const says = isDark ? 'Light colours' : 'Dark colours'
  return (
    <Button kind="quiet" icon onPress={turnTheme} aria-label={says}>
      <Icon name={isDark ? 'sun' : 'moon'} />
    </Button>
  )
}
