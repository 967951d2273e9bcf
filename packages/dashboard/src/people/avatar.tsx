/** The first letters of a name. The image of the profile is not loaded: its server would learn which person the reader looks at. */
export function Avatar({ name }: { readonly name: string }) {
  const letters = name
    .split(/[\s@._-]+/)
    .filter(Boolean)
    .slice(0, 2)
    .map((word) => [...word][0]?.toUpperCase() ?? '')
    .join('');
  return (
    <span className="avatar" aria-hidden="true">
      {letters}
    </span>
  );
}
