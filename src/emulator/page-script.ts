/** Script of the page at `/emulator`: polls the streams four times a second, and sends what the buttons order. */
export const SCRIPT = `
  const streams = document.getElementById('streams');
  const state = document.getElementById('state');
  const cards = new Map();
  const byId = (id) => document.getElementById(id);
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
    card.list = el('dl'); card.texts = el('ol'); card.sounds = el('p');
    for (const [way, text] of [['received', 'received sound (WAV)'], ['sent', 'sent sound (WAV)']]) {
      const link = el('a', '', text); link.dataset.way = way; card.sounds.append(link, ' ');
    }
    card.root.append(head, meters, card.list, card.texts, card.sounds);
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
    const again = s.duplicate_frames + s.out_of_order_frames;
    fact(card, 'repeated sound', String(again), again); fact(card, 'resent from an earlier stream', String(s.repeated_frames)); fact(card, 'invalid', String(s.invalid_messages), s.invalid_messages);
    fact(card, 'too fast to be transcribed', String(s.frames_unheard), s.frames_unheard);
    fact(card, 'before the task ran', String(s.frames_discarded), s.frames_discarded);
    card.sounds.hidden = !keepsSound;
    for (const link of card.sounds.querySelectorAll('a')) link.href = '/emulator/streams/' + s.id + '/sound?way=' + link.dataset.way;
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
    byId('connect').hidden = reports.length > 0;
    put(state, open + (open === 1 ? ' stream runs' : ' streams run') + ', ' + closed + ' closed');
  }
  let keepsSound = false;
  const ask = (path) => fetch(path, { cache: 'no-store' }).then((answer) => answer.json());
  async function order(path, body, method) {
    const init = { method: method ?? 'POST' };
    if (body) { init.body = JSON.stringify(body); init.headers = { 'Content-Type': 'application/json' }; }
    try {
      const answer = await fetch(path, init);
      const problem = answer.ok ? '' : (await answer.json()).errors.map((e) => e.detail).join('; ');
      put(byId('said'), problem);
    } catch { put(byId('said'), 'the emulator does not answer'); }
    void look();
  }
  function showFaults({ waiting, ordered, lasting }) {
    const rows = [
      ...waiting.map((f) => [f.kind + (f.in_ms ? ' in ' + seconds(f.in_ms) : ' at ' + f.when), f.id]),
      ...ordered.map((f) => [f.kind + (f.of ? ' ' + f.of : '') + ' \\u00d7 ' + f.times, f.id]),
      ...lasting.streams.map((f) => ['impaired: ' + f.stream + (f.heals_in_ms === null ? '' : ' for ' + seconds(f.heals_in_ms))]),
      ...(lasting.account === 'ok' ? [] : [['account ' + lasting.account.replaceAll('_', ' ')]]),
    ];
    byId('faults').replaceChildren(...rows.map(([text, id]) => {
      const row = el('li', '', text);
      if (id !== undefined) {
        const button = el('button', '', '\\u00d7');
        button.title = 'cancel this fault';
        button.onclick = () => order('/emulator/faults/' + id, null, 'DELETE');
        row.append(button);
      }
      return row;
    }));
  }
  async function look() {
    try {
      const [faults, clock, settings] = await Promise.all([
        ask('/emulator/faults'), ask('/emulator/clock'), ask('/emulator/settings'),
      ]);
      keepsSound = settings.record_bytes > 0;
      showFaults(faults);
      const skew = clock.skew_ms === 0 ? '' : ', shown ' + seconds(clock.skew_ms) + ' off';
      put(byId('clock'), clock.now.slice(0, 19).replace('T', ' ') + ' UTC' + skew);
    } catch { /* poll says so */ }
  }
  for (const button of document.querySelectorAll('button[data-order]')) {
    button.onclick = () => order(button.dataset.path, JSON.parse(button.dataset.order));
  }
  for (const node of document.querySelectorAll('.origin')) node.textContent = node.dataset.scheme === 'ws'
    ? location.origin.replace(/^http/, 'ws') : location.origin;
  setInterval(look, 1000);
  void look();
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
