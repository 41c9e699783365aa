import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drawPlot } from './plot.ts';
import type { Results } from './results.ts';
import { SUBJECTS } from './subject.ts';
import { notesOf, rowsOf, TITLES, verdictsOf } from './table.ts';

/** The results as a page with its plot. */
export async function writePage(folder: string, results: Results): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'bench.svg'), drawPlot(results));
  await writeFile(join(folder, 'bench.md'), formatPage(results));
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(head),
    `|${head.map((_, at) => (at === 0 ? '---|' : '---:|')).join('')}`,
    ...rows.map(line),
  ].join('\n');
}

export function formatPage(results: Results): string {
  const shown = SUBJECTS.filter((name) => results.subjects.has(name));
  const rows = rowsOf(results).map(({ label, cells }) => [
    label.replace(/^ +/, '&emsp;').replace(' *', ''),
    ...shown.map((name) => cells[name]),
  ]);
  const verdicts = verdictsOf(results).map(({ label, measured, goal, isMet }) => [
    label,
    measured,
    goal,
    isMet === null ? '' : isMet ? 'met' : 'missed',
  ]);
  const notes = notesOf(results).filter((note) => !note.startsWith('*'));
  return `# What the agent costs

Made by \`npm run bench -- --write\`; do not edit. One run on one machine (${results.machine}): compare the columns
with each other, not with figures from elsewhere.

The **agent** is \`dragoman run\` as it is shipped, with arecord and aplay, half-duplex, one lane. The **bare loop** is
\`scripts/bench/bare-loop.mjs\`: arecord, base64 in JSON over a WebSocket, aplay, with the same ALSA periods, and nothing that
a kiosk needs: no token of its own, no reconnection, no gate, no queue, no supervision. Each has a virtual sound card of its
own (\`test/card/\`), hears the same visitor say short sentences, and plays the emulator's translations.

![CPU, memory and latencies of the agent and the bare loop](bench.svg)

${table(['', ...shown.map((name) => TITLES[name])], rows)}

Latencies in ms: p50 / p99 / max. Memory is that of the whole process tree.

${table(['goal', 'measured', '', ''], verdicts)}

${notes.map((note) => `- ${note}`).join('\n')}

## Comparing two commits

\`npm run bench -- --against REF\` builds another commit too, with the packages of its own lock file, and measures its agent
over the same periods, beside this one's. Each agent has its own sound card, broker and backend; broker, backend and service
are those of this commit. Only such a run shows whether a change costs anything: two runs, one after the other, differ by
more than most changes. Node compiles for ten minutes: \`--warm-up 600\`.

## How it is measured

- **CPU**: processor time of the whole process tree, including children that have ended, as the scheduler counts it, over the
  same period for all. Part of it is the virtual card's own work inside arecord and aplay, which is the same for all.
- **Wake-ups**: how often Node's main thread slept, as the kernel counts it. Together with the CPU time, they tell whether a
  program works more often, or works more each time.
- **Memory**: resident set of the whole tree at the end of each round; at the start, Node's peak until the end of the
  warm-up.
- **Capture to wire**: the card knows from its clock when each frame was captured; a relay between the device and the service
  notes when the chunk's last byte arrived. The duration of the chunk itself (320 ms) is not counted.
- **Wire to speaker**: the time from when the relay passed on a sentence's first chunk until the card played the sentence's
  first sample, by the card's frame count. Only sentences that did not have to wait for another one count.
- **Start**: from the start of the process to its first chunk on the wire, without the time that the service takes to set
  up its task. It includes the agent's request to the backend for a session, over MQTT; the bare loop creates its own session
  with the API key.
- **A day**: the shipped agent in simulated time with visitors, night, standby, sessions of half an hour and outages; live
  heap after garbage collection at the end of each hour; its slope after the fourth hour.
`;
}
