/** The build copies JSON files into the assets. An import of such a file is the URL of the copy. */
declare module 'world-atlas/countries-110m.json' {
  const url: string;
  export default url;
}

/** An import of styles has no value, because esbuild collects the styles in one file. */
declare module '*.css';
