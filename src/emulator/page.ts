import { SCRIPT } from './page-script.ts';
import { STYLE } from './page-style.ts';

interface Button {
  readonly label: string;
  readonly path: string;
  readonly order: object;
  /** The control's tooltip. */
  readonly title: string;
}

const fault = (label: string, order: object, title: string): Button => ({
  label,
  path: '/emulator/faults',
  order,
  title,
});
const clock = (label: string, order: object, title: string): Button => ({
  label,
  path: '/emulator/clock',
  order,
  title,
});

/** The most useful faults, as buttons; `POST /emulator/faults` orders all others. */
export const FAULT_BUTTONS: readonly Button[] = [
  fault('drop', { kind: 'drop' }, 'the connection ends without a close'),
  fault('drop in mid-speech', { kind: 'drop', when: 'mid_speech' }, 'the same, when the client speaks next'),
  fault('revoke', { kind: 'revoke' }, 'deletes the session: session_revoked, then the connection closes'),
  fault(
    'max duration',
    { kind: 'max_duration' },
    'the session reaches its limit now: max_duration_reached, then the connection closes',
  ),
  fault(
    'black hole 15 s',
    { kind: 'black_hole', for_ms: 15_000 },
    'the connection stays open, but carries nothing',
  ),
  fault('zombie 60 s', { kind: 'zombie', for_ms: 60_000 }, 'the service answers pings and nothing else'),
  fault(
    'slow read',
    { kind: 'slow_read', bytes_per_s: 8000, for_ms: 10_000 },
    'for 10 s the service reads only 8,000 bytes a second',
  ),
  fault('cut speech', { kind: 'cut_speech', ms: 200 }, 'the next translation ends after 200 ms of sound'),
  fault('not JSON', { kind: 'malformed', form: 'not_json', times: 1 }, 'the next message is not JSON'),
  fault(
    'refuse the next stream',
    { kind: 'refuse', reason: 'session_limit_reached' },
    'the next connection gets the answer session_limit_reached',
  ),
  fault(
    '503 for the next session',
    { kind: 'http', route: 'create', status: 503 },
    'the next request for a session fails with HTTP 503',
  ),
  fault(
    'no balance 5 s',
    { kind: 'balance_out', for_ms: 5000 },
    'the account has no balance for 5 s: streams end, and new sessions are refused',
  ),
  fault('end all faults', { kind: 'clear' }, 'removes the faults that are listed below'),
];
const CLOCK_BUTTONS: readonly Button[] = [
  clock('+1 min', { advance_s: 60 }, 'sets the service a minute ahead: sessions and tokens age'),
  clock('+10 min', { advance_s: 600 }, 'sets the service ten minutes ahead'),
  clock('+1 h', { advance_s: 3600 }, 'sets the service an hour ahead'),
  clock(
    'show a clock 1 h slow',
    { skew_ms: -3_600_000 },
    'all times in answers are an hour early; sessions do not age',
  ),
  clock('show the correct time', { skew_ms: 0 }, 'times in answers are right again'),
];
const RESET: Button = {
  label: 'reset everything',
  path: '/emulator/reset',
  order: {},
  title: 'ends all streams, and forgets settings, faults, sessions and voices; the clock stays advanced',
};

const attribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

function html({ label, path, order, title }: Button): string {
  const data = `data-path="${path}" data-order="${attribute(JSON.stringify(order))}"`;
  return `<button type="button" ${data} title="${attribute(title)}">${attribute(label)}</button>`;
}

/** Instructions for connecting. They say where to find the API key, because the page never shows it. */
const CONNECT = `<section id="connect" hidden>
<h2>No stream yet. To open one:</h2>
<pre>curl -s -X POST <span class="origin"></span>/session-storage/v2/sessions \\
  -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" -d '{"intent":"s2s"}'

<span class="origin" data-scheme="ws"></span>/streaming-api/anything/v1/speech-to-speech/stream?token=$TOKEN</pre>
<p>$API_KEY is the value of <code>--api-key</code> (<code>dragoman-emulator run --help</code> shows the default), $TOKEN the
answer's <code>data.token</code>. Then send <code>set_task</code>, wait until <code>get_task</code> answers <code>current_task</code>, and send 320 ms of sound every 320 ms.</p>
</section>`;

/** The page at `/emulator`: running streams, faults and the clock, live. It loads no other resource. */
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
<header><h1>Translation service emulator</h1><span id="state" role="status">loading…</span><span id="said" role="alert"></span></header>
<section><h2>Clock <span id="clock"></span></h2><div class="tools">${CLOCK_BUTTONS.map(html).join('')}</div></section>
<section><h2>Faults</h2><div class="tools">${[...FAULT_BUTTONS, RESET].map(html).join('')}</div><ul id="faults"></ul></section>
${CONNECT}
<main id="streams"></main>
<script>${SCRIPT}</script>
</body>
</html>
`;

/** The page may only run its own script and send requests to this emulator. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:";
