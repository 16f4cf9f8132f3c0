// A button, and a link that stays inside the console.

import type { JSX, MouseEvent, ReactNode } from 'react'
import { Button as AriaButton, type ButtonProps } from 'react-aria-components/Button'
import { go } from '../route.ts'

export type ButtonKind = 'plain' | 'primary' | 'approve' | 'refuse' | 'quiet'

export function Button({
  kind = 'plain',
  icon = false,
  large = false,
  ...props
}: Omit<ButtonProps, 'className' | 'style'> & {
  kind?: ButtonKind
  icon?: boolean
  large?: boolean
}): JSX.Element {
  const names = ['btn', kind, icon ? 'icon' : '', large ? 'large' : ''].filter(Boolean)
  return <AriaButton {...props} className={names.join(' ')} />
}

interface LinkProps {
  readonly to: string
  readonly children: ReactNode
  readonly className?: string
  readonly current?: boolean
  readonly title?: string
}

export function Link({ to, children, className, current, title }: LinkProps): JSX.Element {
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    go(to)
  }
  return (
    <a
      href={to}
      onClick={follow}
      className={className}
      title={title}
      aria-current={current ? 'page' : undefined}
    >
      {children}
    </a>
  )
}
