// A button that opens a menu of what can be done, in sections.

import type { JSX, ReactNode } from 'react'
import { Header } from 'react-aria-components/Header'
import { Menu, MenuItem, MenuSection, MenuTrigger } from 'react-aria-components/Menu'
import { Popover } from 'react-aria-components/Popover'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icons.tsx'

export interface MenuEntry {
  readonly says: string
  readonly onPress: () => void
  /** It is chosen, and taken back by pressing it. */
  readonly isOn?: boolean
}

interface MenuButtonProps {
  readonly label: string
  readonly icon?: IconName
  /** What is shown in place of an icon. */
  readonly children?: ReactNode
  /** Those without entries are left out. */
  readonly sections: Readonly<Record<string, readonly MenuEntry[]>>
}

export function MenuButton({ label, icon, sections, children }: MenuButtonProps): JSX.Element {
  const shown = Object.entries(sections).filter(([, entries]) => entries.length > 0)
  return (
    <MenuTrigger>
      <Button kind={icon === undefined ? 'quiet' : 'plain'}>
        {icon !== undefined && <Icon name={icon} />}
        {children}
        <span className="visually-hidden">{label}</span>
      </Button>
      <Popover className="popover scroll">
        <Menu className="menu">
          {shown.map(([title, entries]) => (
            <MenuSection key={title} id={title}>
              <Header className="small-head">{title}</Header>
              {entries.map(({ says, onPress, isOn = false }) => (
                <MenuItem
                  key={says}
                  id={`${title} ${says}`}
                  textValue={says}
                  className="menu-item"
                  onAction={onPress}
                >
                  {isOn ? '✓ ' : ''}
                  {says}
                </MenuItem>
              ))}
            </MenuSection>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  )
}
