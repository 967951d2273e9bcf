const PATHS = {
  chart: 'M4 19V5M4 19h16M8 15l3-4 3 2 5-7',
  live: 'M12 12h.01M8.5 15.5a5 5 0 010-7M15.5 8.5a5 5 0 010 7M5.6 18.4a9 9 0 010-12.8M18.4 5.6a9 9 0 010 12.8',
  goal: 'M12 3a9 9 0 109 9M12 8a4 4 0 104 4M12 12l8-8M16 4h4v4',
  funnel: 'M4 5h16l-6 8v6l-4-2v-4z',
  retention: 'M20 12a8 8 0 11-2.3-5.6M20 4v4h-4',
  journey: 'M6 7a2 2 0 100-4 2 2 0 000 4zM18 21a2 2 0 100-4 2 2 0 000 4zM8 5h6a4 4 0 010 8h-4a4 4 0 000 6h6',
  people:
    'M9 11a3.5 3.5 0 100-7 3.5 3.5 0 000 7zM2.5 20a6.5 6.5 0 0113 0M16 4.5a3.5 3.5 0 010 6M18 14.5a6.5 6.5 0 013.5 5.5',
  settings: 'M4 7h10M18 7h2M4 17h2M10 17h10M14 7a2 2 0 104 0 2 2 0 00-4 0zM6 17a2 2 0 104 0 2 2 0 00-4 0z',
  pipe: 'M3 8h5v8H3zM16 8h5v8h-5zM8 12h8M13 9l3 3-3 3',
  sql: 'M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3zM4 6v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3',
  sites: 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z',
  key: 'M14.5 9.5a4.5 4.5 0 10-4 4.47L13 16.5h2.5V19H18v2h3v-3l-6.7-6.7c.13-.56.2-1.16.2-1.8zM9 9h.01',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  close: 'M6 6l12 12M18 6L6 18',
  down: 'M6 9l6 6 6-6',
  up: 'M6 15l6-6 6 6',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  filter: 'M4 6h16M7 12h10M10 18h4',
  calendar: 'M4 6h16v14H4zM4 10h16M8 3v4M16 3v4',
  search: 'M11 4a7 7 0 100 14 7 7 0 000-14zM16 16l5 5',
  plus: 'M12 5v14M5 12h14',
  menu: 'M4 7h16M4 12h16M4 17h16',
  explain: 'M12 21a9 9 0 100-18 9 9 0 000 18zM12 11v5M12 8h.01',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  check: 'M5 13l4 4 10-10',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  out: 'M14 4h5v16h-5M10 8l-4 4 4 4M6 12h9',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 5l12 7-12 7z',
  warning: 'M12 4l9 16H3zM12 10v4M12 17h.01',
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative icon. The text beside it, or the label of its button, says what it means. */
export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
