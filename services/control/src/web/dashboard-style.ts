export const DASHBOARD_STYLE = `:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #2a7ae2; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0 auto; max-width: 72rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; }
header { display: flex; align-items: center; gap: 1rem; border-bottom: 1px solid var(--line); }
header h1 { font-size: 1.2rem; letter-spacing: .04em; }
header button { margin-left: auto; }
h2 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
button, input, select { font: inherit; padding: .3rem .6rem; border: 1px solid var(--line); border-radius: .4rem; }
form { max-width: 30rem; margin: 3rem auto; display: grid; gap: .6rem; }
form p, footer, .none { opacity: .7; font-size: .9em; }
form.bar { max-width: none; }
h3 { font-size: 1rem; margin: 0; }
pre { overflow-x: auto; padding: .6rem; background: var(--soft); }
#new-key-text { overflow-wrap: anywhere; }
.bar { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin: 1rem 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .8rem; }
.tiles div { padding: .8rem; border: 1px solid var(--line); border-radius: .6rem; }
.tiles b { display: block; font-size: 1.6rem; font-variant-numeric: tabular-nums; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1.2rem 1.5rem; margin-top: 1.2rem; }
.cards > div { min-width: 0; overflow: hidden; }
table { width: 100%; border-collapse: collapse; }
td, th { padding: .25rem .4rem; text-align: left; border-bottom: 1px solid var(--soft); }
td:first-child { max-width: 12rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
meter { width: 4.5rem; }
#problem, .problem, #crowded, .advice { padding: .6rem; border-left: 4px solid #c33; background: var(--soft); }
#crowded, .advice { margin: .6rem 0; border-color: #c90; list-style: none; }
footer { margin: 2rem 0; padding-top: .6rem; border-top: 1px solid var(--line); }
`;
