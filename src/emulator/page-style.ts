/** Style sheet of the page at `/emulator`. */
export const STYLE = `
  :root { color-scheme: light dark; --line: #8884; --soft: #8882; --in: #2a7de1; --out: #18935a; --bad: #d33b2f; }
  * { box-sizing: border-box; }
  body { margin: 0 auto; max-width: 72rem; padding: 1rem; font: 15px/1.45 system-ui, sans-serif; }
  header { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; align-items: baseline; }
  h1 { font-size: 1.2rem; margin: 0; }
  #state { color: gray; }
  article { border: 1px solid var(--line); border-radius: .6rem; padding: .8rem 1rem; margin: 1rem 0; }
  article.closed { opacity: .65; }
  .head { display: flex; flex-wrap: wrap; gap: .2rem .8rem; align-items: baseline; }
  .head b { font-size: 1.05rem; }
  .phase { padding: 0 .5rem; border-radius: 1rem; background: var(--soft); }
  .phase.running { background: var(--out); color: white; }
  .speaking { color: var(--in); visibility: hidden; }
  .speaking.on { visibility: visible; }
  .meters { display: grid; grid-template-columns: 3rem 1fr 4.5rem; gap: .25rem .6rem; align-items: center; margin: .6rem 0; }
  .bar { height: .7rem; background: var(--soft); border-radius: .35rem; overflow: hidden; }
  .bar i { display: block; height: 100%; width: 0; background: var(--in); transition: width .2s linear; }
  .bar.out i { background: var(--out); }
  .db { text-align: right; font-variant-numeric: tabular-nums; }
  dl { display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; margin: .4rem 0; font-variant-numeric: tabular-nums; }
  dl div { display: flex; gap: .4rem; }
  dt { color: gray; } dd { margin: 0; } dd.bad { color: var(--bad); font-weight: 600; }
  ol { list-style: none; margin: .5rem 0 0; padding: 0; min-height: 1.5rem; }
  li { display: grid; grid-template-columns: 4.2rem 3.5rem 1fr; gap: .5rem; padding: .1rem 0; border-top: 1px solid var(--soft); }
  li span:first-child, li span:nth-child(2) { color: gray; font-variant-numeric: tabular-nums; }
  section { margin: 1rem 0; } h2 { font-size: 1rem; margin: 0 0 .4rem; }
  .tools { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; }
  button { font: inherit; padding: .15rem .6rem; border: 1px solid var(--line); border-radius: .4rem; background: var(--soft); color: inherit; cursor: pointer; }
  button:hover { border-color: currentColor; } button.bad { color: var(--bad); }
  #clock { font-variant-numeric: tabular-nums; } #said { color: var(--bad); }
  pre { background: var(--soft); border-radius: .4rem; padding: .6rem .8rem; overflow-x: auto; font-size: 13px; }
  #faults { display: flex; flex-wrap: wrap; gap: .2rem .6rem; list-style: none; padding: 0; margin: .4rem 0 0; min-height: 0; }
  #faults li { display: flex; gap: .3rem; border: 0; } #faults button { padding: 0 .35rem; }
  [hidden] { display: none !important; }
  li.partial { font-style: italic; } li.translated { color: var(--out); }
`;
