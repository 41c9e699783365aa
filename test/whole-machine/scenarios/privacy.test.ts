import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { until } from '../../nspawn/kiosk.ts';
import { searchDisk } from '../disk-search.ts';
import { type Fixture, pidOf, wait } from '../kiosk.ts';
import { onMachine } from '../on-machine.ts';

const SEARCH = fileURLToPath(new URL('../memory-search.cjs', import.meta.url));
/** Marks in the speech of a visitor and in its translation. */
const MARKS = ['Heliotrope quagmire', 'Murmullo esdrujulo'];
const SPEECH_MS = 45_000;

interface Find {
  readonly pid: number;
  readonly command: string;
  readonly text: number;
}

onMachine(
  'privacy',
  ({ onDevice }) => {
    onDevice('leaves no transcript and no token anywhere', async (fixture, { annotate }) => {
      const { machine, owner } = fixture;
      const agent = await pidOf(fixture);
      await machine.sh(
        'systemd-run --quiet --collect --unit=speaker aplay -q -D plughw:CARD=Mic,DEV=0 /usr/lib/dragoman/visitor.wav',
      );
      await wait(SPEECH_MS);
      await until(
        'the agent has received the texts',
        async () => {
          const metrics = (await owner.service('/emulator/metrics')).toString();
          return MARKS.every((mark) => metrics.includes(mark));
        },
        120_000,
      );
      const tokens = owner.tokens;
      expect(tokens.length).toBeGreaterThan(0);
      const texts = [...MARKS, ...tokens];

      const { finds, counts } = await searchMemory(fixture, texts);
      // The search works: it finds the token in the agent.
      expect(finds.filter(({ pid }) => pid === agent)).not.toEqual([]);
      expect(finds.filter(({ pid }) => pid !== agent)).toEqual([]);

      await machine.sh('journalctl --sync; sync');
      const journal = await machine.must(['journalctl', '--no-pager', '-o', 'export']);
      expect(journal).toContain('session_started');
      expect(texts.filter((text) => journal.includes(text))).toEqual([]);

      const disk = await searchDisk(fixture, [...texts, 'museum.kiosk-01']);
      expect(disk.at(-1)).toBeGreaterThan(0);
      expect(disk.slice(0, -1)).toEqual(texts.map(() => 0));

      await owner.stopBroker();
      const store = owner.brokerStore();
      await owner.startBroker();
      expect(store.includes('session_started') || store.includes('kiosk-01')).toBe(true);
      expect(texts.filter((text) => store.includes(text))).toEqual([]);
      await annotate(
        `${texts.length} texts searched: in ${counts.processes} processes (${(counts.bytes / 2 ** 20).toFixed(0)} MB), ` +
          `${(journal.length / 2 ** 10).toFixed(0)} kB of journal, the disk, and the broker's store`,
      );
    });
  },
  {
    emulator: ['--translate', 'transform', '--setup-ms', '300', '--allow-host', '10.0.2.100'],
    phrases: [{ en: `${MARKS[0]}.`, es: `${MARKS[1]}.` }],
  },
);

async function searchMemory({ machine }: Fixture, texts: readonly string[]) {
  await machine.write('/run/memory-search.cjs', readFileSync(SEARCH));
  const node = await machine.sh('command -v node || echo /usr/lib/dragoman-node/bin/node');
  const words = texts.map((text) => Buffer.from(text).toString('hex'));
  const said = await machine.must([node.trim(), '/run/memory-search.cjs', ...words], '', 240_000);
  const lines = said
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const counts = lines.pop() as { readonly processes: number; readonly bytes: number };
  expect(counts.processes).toBeGreaterThan(8);
  return { finds: lines as Find[], counts };
}
