const STYLE = `
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
  li.partial { font-style: italic; } li.translated { color: var(--out); }
`;

const SCRIPT = `
  const streams = document.getElementById('streams');
  const state = document.getElementById('state');
  const cards = new Map();
  const el = (tag, className, text) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const put = (node, text) => { if (node.textContent !== text) node.textContent = text; };
  const seconds = (ms) => (ms / 1000).toFixed(1) + ' s';
  const width = (db) => Math.max(0, Math.min(100, (db + 60) / 60 * 100)) + '%';

  function createCard() {
    const card = { root: el('article'), facts: new Map() };
    const head = el('div', 'head');
    card.name = el('b'); card.phase = el('span', 'phase'); card.languages = el('span'); card.client = el('span');
    card.speaking = el('span', 'speaking', '\\u25cf speaking');
    head.append(card.name, card.phase, card.languages, card.client, card.speaking);
    const meters = el('div', 'meters');
    for (const way of ['in', 'out']) {
      const bar = el('div', 'bar ' + way);
      card[way + 'Bar'] = el('i'); card[way + 'Db'] = el('span', 'db');
      bar.append(card[way + 'Bar']);
      meters.append(el('span', '', way), bar, card[way + 'Db']);
    }
    card.list = el('dl'); card.texts = el('ol');
    card.root.append(head, meters, card.list, card.texts);
    return card;
  }
  function fact(card, name, value, bad) {
    let dd = card.facts.get(name);
    if (!dd) {
      const row = el('div'); dd = el('dd'); row.append(el('dt', '', name), dd); card.list.append(row);
      card.facts.set(name, dd);
    }
    put(dd, value); dd.classList.toggle('bad', Boolean(bad));
  }
  function showLevel(card, way, db, heard) {
    card[way + 'Bar'].style.width = heard ? width(db) : '0';
    put(card[way + 'Db'], heard && db > -100 ? db.toFixed(0) + ' dB' : '\\u2013');
  }
  function show(card, s, moving) {
    card.root.className = s.phase === 'closed' ? 'closed' : '';
    put(card.name, s.id); put(card.phase, s.phase); card.phase.className = 'phase ' + s.phase;
    put(card.languages, s.source ? s.source + ' \\u2192 ' + s.targets.join(', ') : 'no task yet');
    put(card.client, s.client_reference_id ?? 'session ' + s.session);
    card.speaking.classList.toggle('on', s.speaking && s.phase === 'running');
    showLevel(card, 'in', s.level_in_db, moving.in); showLevel(card, 'out', s.level_out_db, moving.out);
    const p = s.pacing;
    fact(card, 'open', seconds(s.open_ms)); fact(card, 'billed', seconds(s.billed_ms));
    fact(card, 'heard', seconds(s.audio_ms_in)); fact(card, 'spoken', seconds(s.audio_ms_out));
    fact(card, 'sentences', String(s.segments));
    fact(card, 'too fast', String(p.too_fast), p.too_fast); fact(card, 'too slow', String(p.too_slow), p.too_slow);
    fact(card, 'stalled', String(p.stalled), p.stalled);
    fact(card, 'ahead', p.lead_ms + ' ms'); fact(card, 'ahead at most', p.worst_lead_ms + ' ms'); fact(card, 'behind at most', p.worst_lag_ms + ' ms');
    const again = s.duplicate_frames + s.out_of_order_frames + s.repeated_frames;
    fact(card, 'sound twice', String(again), again); fact(card, 'invalid', String(s.invalid_messages), s.invalid_messages);
    fact(card, 'came too fast to be heard', String(s.frames_unheard), s.frames_unheard);
    fact(card, 'before the task ran', String(s.frames_discarded), s.frames_discarded);
    if (s.closed) fact(card, 'closed', s.closed.code + ' ' + s.closed.reason + ' by ' + s.closed.by);
    const rows = s.texts.slice(-6).map((t) => {
      const row = el('li', t.type.startsWith('partial') ? 'partial' : t.type.startsWith('translated') ? 'translated' : '');
      row.append(el('span', '', seconds(t.at_ms)), el('span', '', t.language), el('span', '', t.text));
      return row;
    });
    card.texts.replaceChildren(...rows);
  }
  function update(reports, closed) {
    const wanted = reports;
    for (const [id, card] of cards) {
      if (wanted.some((s) => s.id === id)) continue;
      card.root.remove(); cards.delete(id);
    }
    for (const s of wanted) {
      const card = cards.get(s.id) ?? createCard();
      const running = s.phase === 'running';
      const moving = { in: running && s.frames_in !== card.framesIn, out: s.frames_out !== card.framesOut };
      const held = Date.now();
      if (moving.in) card.inAt = held;
      if (moving.out) card.outAt = held;
      card.framesIn = s.frames_in; card.framesOut = s.frames_out;
      show(card, s, { in: held - (card.inAt ?? 0) < 700, out: held - (card.outAt ?? 0) < 700 });
      if (!cards.has(s.id)) { cards.set(s.id, card); streams.prepend(card.root); }
    }
    const open = reports.filter((s) => s.phase !== 'closed').length;
    put(state, open + (open === 1 ? ' stream runs' : ' streams run') + ', ' + closed + ' closed');
  }
  async function poll() {
    try {
      const answer = await fetch('/emulator/streams?closed=5', { cache: 'no-store' });
      const body = await answer.json();
      update(body.streams, body.closed);
    } catch { put(state, 'the emulator does not answer'); }
    setTimeout(poll, 250);
  }
  poll();
`;

/** The page at `/emulator`: running streams, live. Stands alone: no resource comes from anywhere else. */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Translation service emulator</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<header><h1>Translation service emulator</h1><span id="state" role="status">looking…</span></header>
<main id="streams"></main>
<script>${SCRIPT}</script>
</body>
</html>
`;

/** What the page may do: run its own script and ask this emulator, nothing else. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:";
