/** The style of the pages: calm, light and dark, from a phone to a desk; no font or picture from elsewhere. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fbfbfa; --raised: #ffffff; --ink: #1d2528; --quiet: #5a666b; --line: #e1e5e4;
  --good: #1f7a59; --cell: #3c9c78; --empty: #3c9c78; --open: #98a3a6; --running: #2469c4; --wait: #a86500; --bad: #c0362c;
  --good-paper: #eef6f2; --wait-paper: #fdf5e6; --bad-paper: #fcefed; --new-paper: #edf3fb; --link: #1a5fae;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14181a; --raised: #1b2023; --ink: #e4e9ea; --quiet: #9aa7ac; --line: #2c3438;
    --good: #63c79f; --cell: #4aa582; --empty: #4aa582; --open: #6d7a80; --running: #74aef5; --wait: #e8ab4a; --bad: #f0776c;
    --good-paper: #17251f; --wait-paper: #29221a; --bad-paper: #2d1d1c; --new-paper: #18222e; --link: #8bbcf7;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 0 1.25rem 2rem; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums; }
a { color: var(--link); text-underline-offset: .15em; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -100vw; padding: .5rem 1rem; background: var(--raised); }
.skip:focus { left: 0; z-index: 1; }
h1 { font-size: 1.35rem; line-height: 1.35; margin: 0; font-weight: 600; text-wrap: balance; }
h2 { font-size: 1.1rem; margin: 2.5rem 0 .5rem; font-weight: 600; }
h3 { font-size: 1rem; margin: 0; font-weight: 600; }
p { margin: .4rem 0; max-width: 70ch; }
small, .quiet { color: var(--quiet); }
small { font-size: .85em; font-weight: 400; }
code { font: .875em/1.4 ui-monospace, "SF Mono", Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace; }
.top { padding: 1.1rem 0 .9rem; }
.brand { display: inline-flex; gap: .55rem; align-items: center; color: inherit; text-decoration: none; font-weight: 600; letter-spacing: .01em; }
.brand .mark { fill: var(--cell); }
.health { padding: 1.1rem 1.25rem 1rem; border-radius: 10px; border-left: 6px solid var(--cell); background: var(--good-paper); }
.health.gaps { border-color: var(--wait); background: var(--wait-paper); }
.health.late, .health.refused { border-color: var(--bad); background: var(--bad-paper); }
.health.new { border-color: var(--running); background: var(--new-paper); }
.health p { margin: .3rem 0 0; }
.health .quiet { color: color-mix(in srgb, var(--ink) 72%, transparent); }
.problems { margin: .8rem 0 0; padding: 0; list-style: none; display: grid; grid-template-columns: minmax(0, 1fr); gap: .7rem; }
.problems a { overflow-wrap: anywhere; }
pre.command { display: flex; align-items: center; gap: .75rem; margin: .3rem 0 0; padding: .45rem .7rem; background: var(--raised); border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; white-space: pre; max-width: 100%; width: fit-content; }
pre.command button { margin-left: auto; position: sticky; right: 0; box-shadow: .7rem 0 0 var(--raised); }
.problems details, .more { margin-top: .3rem; } .problems details p { overflow-wrap: anywhere; } .more > ul { margin-top: .6rem; }
button { font: inherit; font-size: .8rem; padding: .1rem .6rem; border: 1px solid var(--line); border-radius: 5px; background: var(--paper); color: var(--ink); cursor: pointer; }
.running { margin: .5rem 0 0; padding: 0; list-style: none; display: grid; gap: .5rem; }
progress { display: block; width: 100%; max-width: 36rem; height: 6px; margin-top: .3rem; border: 0; border-radius: 3px; overflow: hidden; background: var(--line); appearance: none; -webkit-appearance: none; }
progress::-webkit-progress-bar { background: var(--line); }
progress::-webkit-progress-value { background: var(--running); }
progress::-moz-progress-bar { background: var(--running); }
.legend { display: flex; flex-wrap: wrap; gap: .35rem 1.25rem; margin: .6rem 0 0; padding: 0; list-style: none; font-size: .9rem; color: var(--quiet); }
.legend b { color: var(--ink); font-weight: 600; }
.shapes { position: absolute; }
svg.mark { width: .8em; height: .8em; margin-right: .15em; overflow: visible; }
.complete { fill: var(--cell); } .empty { fill: none; stroke: var(--empty); stroke-width: 1.5; } .open { fill: var(--open); }
.running path, path.running { fill: var(--running); } .failed { fill: var(--bad); } .cross { stroke: var(--paper); stroke-width: 1.6; stroke-linecap: round; } .missing { fill: var(--wait); } .unchecked { fill: none; stroke: var(--wait); stroke-width: 1.2; }
.stream { margin-top: 1rem; padding: 1.1rem 1.25rem 1.25rem; background: var(--raised); border: 1px solid var(--line); border-radius: 10px; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .8rem 1.5rem; margin: .7rem 0 0; }
.figures dt { font-size: .85rem; color: var(--quiet); }
.health .figures dt, .health .figures small { color: color-mix(in srgb, var(--ink) 72%, transparent); }
.figures dd { margin: 0; font-size: 1.05rem; font-weight: 600; } .figures small { display: block; font-size: .85rem; }
.years { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1rem 2.5rem; margin-top: 1rem; }
figure { margin: 0; }
figcaption { font-size: .9rem; font-weight: 600; }
figcaption span { font-weight: 400; color: var(--quiet); margin-left: .5rem; }
.year { max-width: 36rem; }
.calendar { display: block; width: 100%; height: auto; overflow: visible; }
.calendar text { font-size: 10px; fill: var(--quiet); } .calendar .ruler { text-anchor: middle; font-size: 9px; }
.calendar a:hover use { stroke: var(--ink); stroke-width: 1; } .calendar a:hover text { fill: var(--ink); text-decoration: underline; }
.calendar a:focus { outline: none; } .calendar a:focus-visible use { stroke: var(--link); stroke-width: 2.5; } .calendar a:focus-visible text { fill: var(--link); text-decoration: underline; font-weight: 700; }
.older { margin-top: 1rem; } summary { cursor: pointer; font-size: .9rem; font-weight: 600; width: fit-content; }
.volume { margin-top: 1.4rem; }
.plot { position: relative; height: 6.5rem; margin-top: .4rem; padding-left: 4.2rem; }
.plot svg { display: block; width: 100%; height: 100%; }
.plot .scale { position: absolute; left: 0; top: -.6em; width: 3.7rem; text-align: right; font-size: .75rem; line-height: 1.2; color: var(--quiet); } .plot .half { top: calc(50% - .6em); }
.grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; fill: none; }
.bar { fill: var(--cell); } .bar.empty { stroke: none; } .bar.running { fill: var(--running); } .bar.failed { fill: var(--bad); } .bar.missing, .bar.begun, .bar.walked { fill: var(--wait); }
.reach { fill: transparent; } .volume g:hover .reach { fill: color-mix(in srgb, var(--ink) 8%, transparent); }
.span { display: flex; justify-content: space-between; padding-left: 4.2rem; font-size: .75rem; color: var(--quiet); }
.wide { overflow-x: auto; margin-top: .5rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { padding: .4rem 1.4rem .4rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; white-space: nowrap; font-weight: 400; }
thead th { color: var(--quiet); font-size: .85rem; }
.n { text-align: right; }
td.wrong { color: var(--bad); font-weight: 600; } td details { font-weight: 400; color: var(--ink); white-space: normal; max-width: 40ch; overflow-wrap: anywhere; }
tr.note td { white-space: normal; max-width: 20rem; overflow-wrap: anywhere; padding-top: 0; color: var(--quiet); } tr.noted > * { border-bottom: 0; }
tfoot td, tfoot th { font-weight: 600; border-bottom: 0; }
th:last-child, td:last-child { padding-right: 0; }
.ways { display: flex; flex-wrap: wrap; gap: .4rem 1.4rem; margin-bottom: 1rem; font-size: .9rem; }
.commands { margin: .3rem 0 0; display: grid; grid-template-columns: minmax(0, 1fr); gap: .7rem; } .commands dt { font-size: .9rem; color: var(--quiet); } .commands dd { margin: 0; }
.story { list-style: none; margin: .4rem 0 0; padding: 0; font-size: .95rem; } .story li { padding: .12rem 0; overflow-wrap: anywhere; max-width: 100ch; }
.story .window { font-weight: 600; padding-top: .6rem; } .d2 { margin-left: 1.2rem; } .d3 { margin-left: 2.4rem; } .d4 { margin-left: 3.6rem; } .d5 { margin-left: 4.8rem; }
footer { display: flex; flex-wrap: wrap; gap: .4rem 1.5rem; margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: .85rem; color: var(--quiet); } footer nav { display: flex; gap: 1.2rem; }
@media (max-width: 40rem) { h2 { margin-top: 1.4rem; } .figures { grid-template-columns: 1fr 1fr; gap: .6rem 1rem; } .legend { gap: .2rem .9rem; } body { padding: 0 .9rem 1.5rem; } .health, .stream { padding: .9rem; } h1 { font-size: 1.2rem; } .plot, .span { padding-left: 3.2rem; } .plot .scale { width: 2.8rem; font-size: .7rem; } }
@media (prefers-reduced-motion: no-preference) { progress::-webkit-progress-value { transition: inline-size .4s; } }
@media print { .skip, footer, pre.command button { display: none; } }
`.trimStart();
