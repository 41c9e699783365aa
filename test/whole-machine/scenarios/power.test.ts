import { expect } from 'vitest';
import { z } from 'zod';
import { until } from '../../nspawn/kiosk.ts';
import {
  DAMAGED,
  EACH_MS,
  keyOf,
  LONGEST_WAIT_MS,
  percentOf,
  RECORD,
  readCommands,
  SOFTEST,
} from '../command-flood.ts';
import { searchDisk } from '../disk-search.ts';
import { type Fixture, inSeconds, live, wait } from '../kiosk.ts';
import { onMachine } from '../on-machine.ts';
import { TimingError } from '../slowness.ts';

/** Twenty power cuts in total. */
const [ROUNDS, CUTS] = [4, 5];
const ANSWERED_WITHIN_MS = 90_000;
const ROUND_LIMIT_MS = 1_200_000;
/** Log line of the agent when a write takes longer than 2 s: from then on it answers without remembering commands. */
const FORGETS = /commands are not remembered over a restart; .*takes too long/;
const answerSchema = z.object({ id: z.string(), status: z.string() });

onMachine('power', ({ onDevice }) => {
  for (let round = 1; round <= ROUNDS; round += 1)
    onDevice(
      `can be cut ${CUTS} times at random while state is written; round ${round} of ${ROUNDS}`,
      async (fixture, { annotate }) => {
        await cardsFromBootOn(fixture);
        await warnOnConsole(fixture);
        const cuts: Cut[] = [];
        for (let cut = 0; cut < CUTS; cut += 1) cuts.push(await cutOnce(fixture, `${round}-${cut}`));
        const tokens = fixture.owner.tokens;
        expect(tokens.length).toBeGreaterThan(CUTS);
        // The last text proves that the search works.
        const found = await searchDisk(fixture, [...tokens, 'museum.kiosk-01']);
        expect(found.at(-1)).toBeGreaterThan(0);
        expect(found.slice(0, -1)).toEqual(tokens.map(() => 0));
        const times = cuts.map(({ liveMs }) => liveMs).sort((a, b) => a - b);
        const sum = (key: 'sent' | 'kept' | 'open' | 'halfway') =>
          cuts.reduce((total, one) => total + one[key], 0);
        await annotate(
          `${CUTS} cuts, ${sum('sent')} commands: ${sum('kept')} had been answered and were all remembered, ` +
            `${sum('open')} were answered after the next start, ${sum('halfway')} of them as interrupted; ` +
            `live ${inSeconds(times[CUTS >> 1] ?? 0)} after the cut (median), ${inSeconds(times.at(-1) ?? 0)} at most; ` +
            `${tokens.length} tokens: none on the disk`,
        );
      },
      ROUND_LIMIT_MS,
    );
});

/** Makes the kernel load the cards at boot, like those of a device. */
async function cardsFromBootOn({ machine }: Fixture): Promise<void> {
  await machine.write('/etc/modules-load.d/cards.conf', 'snd-aloop\n');
  const options = 'options snd-aloop enable=1,1 index=-1,-1 id=Mic,Speaker pcm_substreams=1,1\n';
  await machine.write('/etc/modprobe.d/cards.conf', options);
  await machine.must(['sync']);
}

/** Sends warnings to the console, which is stored outside of the machine: a power cut loses the journal in memory. */
async function warnOnConsole({ machine }: Fixture): Promise<void> {
  const settings = '[Journal]\nForwardToConsole=yes\nMaxLevelConsole=warning\n';
  await machine.sh('mkdir -p /etc/systemd/journald.conf.d');
  await machine.write('/etc/systemd/journald.conf.d/console.conf', settings);
  await machine.sh('systemctl restart systemd-journald; sync');
}

interface Cut {
  readonly sent: number;
  /** Answered before the cut. */
  readonly kept: number;
  /** Answered after it. */
  readonly open: number;
  /** Those of `open` that the disk had as begun: they were reported as interrupted and not executed twice. */
  readonly halfway: number;
  readonly liveMs: number;
}

async function cutOnce(fixture: Fixture, name: string): Promise<Cut> {
  const { machine, owner } = fixture;
  owner.forget();
  const flood = startFlood(fixture, name);
  await until('state is written', async () => answersOf(fixture).size > 0, 30_000);
  await wait(Math.random() * LONGEST_WAIT_MS);
  const cutAt = performance.now();
  const booting = machine.cutPower();
  const sent = await flood.end();
  // All its answers have arrived by now, and it cannot send more.
  const kept = [...answersOf(fixture)].filter(([, status]) => status === 'ok').map(([id]) => id);
  expect(kept.length).toBeGreaterThan(0);
  // Later answers come from the next start.
  owner.forget();
  await booting;
  const recorded = await readRecord(fixture);
  const forgotten = kept.filter((id) => recorded.get(keyOf(id)) !== 'ok');
  if (forgotten.length > 0 && FORGETS.test(machine.consoleBeforeCut()))
    throw new TimingError(`the disk took too long and the agent said so: ${forgotten.length} not remembered`);
  expect(forgotten).toEqual([]);
  const halfway = sent.filter((id) => recorded.get(keyOf(id)) === 'error').length;
  await live(fixture, 240_000);
  const liveMs = performance.now() - cutAt;
  await until('it answers', async () => (await volumeOf(fixture)) !== null, ANSWERED_WITHIN_MS);
  await isNotDoneTwice(fixture, kept[0] ?? '');
  const open = sent.filter((id) => !kept.includes(id));
  const isAnswered = async () => open.every((id) => answersOf(fixture).has(id));
  await until('all are answered', isAnswered, ANSWERED_WITHIN_MS).catch((error) => {
    const silent = open.filter((id) => !answersOf(fixture).has(id));
    throw new Error(`${String(error)}: ${silent.join(' ')}`);
  });
  const journal = await machine.sh('journalctl -b -o cat --no-pager -u dragoman');
  expect(journal).not.toMatch(DAMAGED);
  // systemd restarted nothing: only the power cut ended the agent.
  expect(await machine.sh('systemctl show --value -p NRestarts dragoman')).toBe('0\n');
  return { sent: sent.length, kept: kept.length, open: open.length, halfway, liveMs };
}

/** Starts a flood of commands. The agent records each before it executes and answers it. */
function startFlood({ owner }: Fixture, name: string) {
  const sent: string[] = [];
  let isOver = false;
  const send = async (): Promise<void> => {
    while (!isOver) {
      const id = `${name}-${sent.length}`;
      await owner.publish('cmd/volume', { id, args: { percent: percentOf(sent.length) } });
      sent.push(id);
      await wait(EACH_MS);
    }
  };
  const sending = send();
  return {
    async end(): Promise<readonly string[]> {
      isOver = true;
      await sending;
      return sent;
    },
  };
}

/** Final answers by command id. */
function answersOf({ owner }: Fixture): Map<string, string> {
  const answers = owner.messages
    .filter(({ topic }) => topic === 'cmd/volume/res')
    .map(({ text }) => answerSchema.parse(JSON.parse(text)))
    .filter(({ status }) => status !== 'accepted');
  return new Map(answers.map(({ id, status }) => [id, status]));
}

/** Reads the record of commands. It is empty if the disk was too slow from the start: there is no file then. */
async function readRecord({ machine }: Fixture): Promise<ReadonlyMap<string, string | undefined>> {
  if ((await machine.run(['test', '-e', RECORD])).code !== 0) return new Map();
  return readCommands((await machine.read(RECORD)).toString());
}

async function volumeOf({ owner }: Fixture): Promise<number | null> {
  const answer = await owner.command('status', {}, 4000);
  const lanes = (answer?.['data'] as { lanes?: { volume: number }[] } | undefined)?.lanes;
  return lanes?.[0]?.volume ?? null;
}

/** Sends the first command again, which set the softest volume: the agent answers it and changes nothing. */
async function isNotDoneTwice(fixture: Fixture, first: string): Promise<void> {
  await fixture.owner.publish('cmd/volume', { id: first, args: { percent: SOFTEST } });
  await until('the answer again', async () => answersOf(fixture).get(first) === 'ok', ANSWERED_WITHIN_MS);
  expect(await volumeOf(fixture)).not.toBe(SOFTEST);
}
