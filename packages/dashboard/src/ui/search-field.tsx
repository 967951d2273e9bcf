import { Icon } from './icon.tsx';

interface Props {
  /** Names the field for screen readers. */
  readonly label: string;
  /** Default: the label. */
  readonly placeholder?: string;
  readonly isWide?: boolean;
  readonly charsMax?: number;
  readonly value: string;
  readonly onSearch: (text: string) => void;
}

export function SearchField({ label, placeholder = label, isWide = false, charsMax, value, onSearch }: Props) {
  return (
    <label className={isWide ? 'search wide' : 'search'}>
      <Icon name="search" size={16} />
      <span className="visually-hidden">{label}</span>
      <input
        type="search"
        maxLength={charsMax}
        placeholder={placeholder}
        value={value}
        onChange={(event) => onSearch(event.target.value)}
      />
    </label>
  );
}
