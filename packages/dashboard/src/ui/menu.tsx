import * as Ariakit from '@ariakit/react';
import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

interface MenuProps {
  /** What the button shows. */
  readonly label: ReactNode;
  /** The name of the button for screen readers, if `label` has no text. */
  readonly name?: string;
  readonly icon?: IconName;
  readonly bare?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A button that opens a menu. */
export function Menu({ label, name, icon, bare = false, className, children }: MenuProps) {
  return (
    <Ariakit.MenuProvider placement="bottom-end">
      <Ariakit.MenuButton className={`${bare ? 'icon-button' : 'button'} ${className ?? ''}`} aria-label={name}>
        {icon && <Icon name={icon} size={16} />}
        {label}
        {!bare && <Icon name="down" size={14} />}
      </Ariakit.MenuButton>
      <Ariakit.Menu gutter={6} className="menu" portal unmountOnHide>
        {children}
      </Ariakit.Menu>
    </Ariakit.MenuProvider>
  );
}

interface ItemProps {
  readonly onSelect: () => void;
  readonly isChecked?: boolean;
  readonly role?: 'menuitemradio' | 'menuitemcheckbox';
  readonly hint?: string | undefined;
  readonly children: ReactNode;
}

/** One entry. If `isChecked` is given, the entry is one of several choices or, with the role `menuitemcheckbox`, a switch. */
export function MenuItem({ onSelect, isChecked, role = 'menuitemradio', hint, children }: ItemProps) {
  return (
    <Ariakit.MenuItem
      className="menu-item"
      onClick={onSelect}
      {...(isChecked !== undefined && { role, 'aria-checked': isChecked })}
    >
      <span className="menu-text">{children}</span>
      {isChecked && <Icon name="check" size={16} />}
      {hint && <kbd>{hint}</kbd>}
    </Ariakit.MenuItem>
  );
}

export const MenuSeparator = () => <Ariakit.MenuSeparator className="menu-separator" />;
