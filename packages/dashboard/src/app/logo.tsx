export function Logo() {
  return (
    <span className="logo">
      <svg width="26" height="26" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
        <rect width="24" height="24" rx="6" />
        <path d="M5 8l3.5 9L12 9.5 15.5 17 19 8" />
      </svg>
      Weir
    </span>
  );
}
