import { beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS, type CommandName } from '../../src/protocol/mqtt/commands/registry.ts';
import { speakPlainly } from '../../src/protocol/plain-issues.ts';
import type { FakeDeps } from './fake-deps.ts';
import { createScheduledAgent, hours } from './scheduled-agent.ts';

// The same as in the programs.
beforeAll(speakPlainly);

type Refusal = readonly [args: unknown, code: string, mentions: string];
const NO_LANE: Refusal = [{ lane: 'left' }, 'unknown_lane', 'left'];
const MISSPELT: Refusal = [{ lanes: 'main' }, 'invalid_args', 'lanes'];
const BAD_LANE: Refusal = [{ lane: 'Not A Lane!' }, 'invalid_args', 'lane'];
const LANE = [NO_LANE, MISSPELT, BAD_LANE] as const;
const withLane = (args: object): readonly Refusal[] =>
  LANE.map(([lane, code, mentions]) => [{ ...args, ...(lane as object) }, code, mentions] as const);

/** How each command can be refused on a running kiosk; the compiler requires an entry for a new command. */
const REFUSALS: Readonly<Record<CommandName, readonly Refusal[]>> = {
  start: [
    ...LANE,
    [{ until: 'tomorrow' }, 'invalid_args', 'until'],
    [{ until: '2026-01-15T08:00:00Z' }, 'invalid_args', 'until'],
    [{ until: 5 }, 'invalid_args', 'until'],
  ],
  stop: LANE,
  mute: LANE,
  unmute: LANE,
  languages: [
    ...withLane({ targets: ['fr'] }),
    [{}, 'invalid_args', 'source'],
    [{ targets: [] }, 'invalid_args', 'targets'],
    [{ targets: ['Spanish'] }, 'invalid_args', 'targets'],
    [{ targets: ['en'] }, 'invalid_args', 'targets'],
    [{ targets: ['fr', 'FR'.toLowerCase()] }, 'invalid_args', 'targets'],
    [{ source: 'x'.repeat(40) }, 'invalid_args', 'source'],
    [{ source: 7 }, 'invalid_args', 'source'],
    [{ step: 2 }, 'invalid_args', 'step'],
    [{ step: 1, targets: ['fr'] }, 'invalid_args', 'step'],
    [{ step: 1 }, 'invalid_args', 'offer'],
  ],
  conversation: [
    ...withLane({ do: 'begin' }),
    [{}, 'invalid_args', 'do'],
    [{ do: 'pause' }, 'invalid_args', 'do'],
  ],
  volume: [
    ...withLane({ percent: 5 }),
    [{}, 'invalid_args', 'percent'],
    [{ percent: 101 }, 'invalid_args', 'percent'],
    [{ percent: -1 }, 'invalid_args', 'percent'],
    [{ percent: 1.5 }, 'invalid_args', 'percent'],
    [{ percent: '50' }, 'invalid_args', 'percent'],
  ],
  echo: [
    ...withLane({ mode: 'off' }),
    [{}, 'invalid_args', 'mode'],
    [{ mode: 'loud' }, 'invalid_args', 'mode'],
  ],
  turn: [
    ...withLane({ speaker: 'source' }),
    [{}, 'invalid_args', 'speaker'],
    [{ speaker: 'es' }, 'invalid_args', 'speaker'],
    [{ speaker: 'source', held: 'no' }, 'invalid_args', 'held'],
    [{ speaker: 'source' }, 'invalid_args', 'twoWay'],
  ],
  help: [
    ...withLane({ do: 'call' }),
    [{}, 'invalid_args', 'do'],
    [{ do: 'come' }, 'invalid_args', 'do'],
    [{ do: 'call', by: 'Ann' }, 'invalid_args', 'by'],
    [{ do: 'answer', by: ' ' }, 'invalid_args', 'by'],
    [{ do: 'answer', by: 'x'.repeat(65) }, 'invalid_args', 'by'],
    [{ do: 'answer', by: 'a\nb' }, 'invalid_args', 'by'],
    [{ do: 'answer' }, 'not_called', 'no call'],
  ],
  menu: [
    ...withLane({ do: 'next' }),
    [{}, 'invalid_args', 'do'],
    [{ do: 'up' }, 'invalid_args', 'do'],
    [{ do: 'open' }, 'unsupported', 'scripts/build-phrases'],
  ],
  voice: [
    ...withLane({ voice: null }),
    [{}, 'invalid_args', 'voice'],
    [{ voice: '' }, 'invalid_args', 'voice'],
    [{ voice: 'a\nb' }, 'invalid_args', 'voice'],
    [{ voice: 'x'.repeat(129) }, 'invalid_args', 'voice'],
  ],
  say: [
    ...withLane({ text: 'x', language: 'es' }),
    [{ text: 'x' }, 'invalid_args', 'language'],
    [{ text: '', language: 'es' }, 'invalid_args', 'text'],
    [{ text: 'x\u0007', language: 'es' }, 'invalid_args', 'text'],
    [{ text: 'x'.repeat(2049), language: 'es' }, 'invalid_args', 'text'],
    [{ text: ' ', language: 'es' }, 'invalid_args', 'text'],
    [{ text: 'x', language: 'Spanish' }, 'invalid_args', 'language'],
    [{ text: 'x', language: 'es', translate: 'yes' }, 'invalid_args', 'translate'],
  ],
  identify: [
    ...LANE,
    [{ seconds: 0 }, 'invalid_args', 'seconds'],
    [{ seconds: 301 }, 'invalid_args', 'seconds'],
  ],
  log_level: [
    [{}, 'invalid_args', 'level'],
    [{ level: 'loud' }, 'invalid_args', 'level'],
    [{ level: 'debug', minutes: 0 }, 'invalid_args', 'minutes'],
    [{ level: 'debug', minutes: 1441 }, 'invalid_args', 'minutes'],
    [{ level: 'debug', lane: 'main' }, 'invalid_args', 'lane'],
  ],
  log_stream: [
    [{}, 'invalid_args', 'minutes'],
    [{ minutes: 61 }, 'invalid_args', 'minutes'],
    [{ minutes: 5, level: 'all' }, 'invalid_args', 'level'],
  ],
  restart: [
    [{}, 'unsupported', ''],
    [{ now: true }, 'invalid_args', 'now'],
  ],
  reboot: [
    [{}, 'unsupported', ''],
    [{ now: true }, 'invalid_args', 'now'],
  ],
  update: [
    [{ version: '1.3.0' }, 'unsupported', 'updater'],
    [{}, 'invalid_args', 'version'],
    [{ version: 'latest' }, 'invalid_args', 'version'],
    [{ version: '../1.3.0' }, 'invalid_args', 'version'],
    [{ version: '1.3.0', manifest_url: 'https://a/b' }, 'invalid_args', 'manifest_url'],
    [{ version: '1.3.0', not_before: 'tomorrow' }, 'invalid_args', 'not_before'],
  ],
  rollback: [
    [{}, 'unsupported', 'updater'],
    [{ version: '1.2.0' }, 'invalid_args', 'version'],
  ],
  certificate: [
    [{}, 'unsupported', 'certificate'],
    [{ request: 'r' }, 'invalid_args', 'certificate'],
    [{ request: 'r', certificate: 5 }, 'invalid_args', 'certificate'],
    [{ pem: 'x' }, 'invalid_args', 'pem'],
  ],
  status: [[{ lane: 'main' }, 'invalid_args', 'lane']],
  diagnose: [
    [{ only: [] }, 'invalid_args', 'only'],
    [{ only: ['luck'] }, 'invalid_args', 'only'],
    [{ only: 'broker' }, 'invalid_args', 'only'],
  ],
};

interface Told {
  readonly code: string;
  readonly message: string;
}
let count = 0;
const refusal = (deps: FakeDeps, name: string, body: object, more: object = {}): Told | undefined => {
  deps.command(name, { id: `r${count++}`, ...body }, more);
  return deps.answers(name).at(-1)?.['error'] as Told | undefined;
};

/** Developer terms, and words that help no operator. */
const FOREIGN =
  /invalid|expected|received|undefined|unrecognized|zod|too (big|small)|NaN|\[object|\bat .*\.ts/i;

function expectSentence(told: Told | undefined, code: string, mentions: string): void {
  expect(told).toMatchObject({ code, message: expect.stringContaining(mentions) });
  const message = told?.message ?? '';
  expect(message).not.toMatch(FOREIGN);
  expect(message).not.toMatch(/\p{Cc}/u);
  expect(message.split(' ').length).toBeGreaterThanOrEqual(3);
  expect(message.length).toBeLessThanOrEqual(600);
  // A sentence of this project: no capital at the beginning, and no full stop.
  expect(message).toMatch(/^[a-z0-9"].*[^.\s]$/);
}

const rows = (Object.keys(COMMANDS) as CommandName[]).flatMap((name) =>
  REFUSALS[name].map((row) => [name, ...row] as const),
);

describe('a refused command', () => {
  it.each(rows)(
    '%s %j is answered %s with a sentence that mentions %j',
    async (name, args, code, mentions) => {
      const deps = createScheduledAgent({});
      await deps.goLive();
      const calls = deps.lastStream().calls.length;
      expectSentence(refusal(deps, name, { args }), code, mentions);
      expect(deps.lastStream().calls).toHaveLength(calls);
    },
  );

  it.each(Object.keys(COMMANDS))(
    '%s is refused with a sentence when it is retained or malformed',
    async (name) => {
      const deps = createScheduledAgent({});
      await deps.goLive();
      expectSentence(
        refusal(deps, name, { args: REFUSALS[name as CommandName][0]?.[0] ?? {} }, { retain: true }),
        'retained',
        'retained',
      );
      expectSentence(refusal(deps, name, { args: 5 }), 'malformed', 'args');
      expectSentence(refusal(deps, name, { args: {}, not_after: 'soon' }), 'malformed', 'not_after');
      let deep: object = {};
      for (let level = 0; level < 40; level++) deep = { deep };
      expectSentence(refusal(deps, name, { args: deep }), 'malformed', 'nested');
    },
  );

  it('is answered with the known commands when it does not exist', async () => {
    const deps = createScheduledAgent({});
    await deps.goLive();
    expectSentence(refusal(deps, 'explode', {}), 'unknown_command', 'explode');
  });

  it('names the end of the closed time when it is outside the opening hours or without budget', async () => {
    const closed = createScheduledAgent({ schedule: hours('20:00', '21:00') });
    await closed.agent.start();
    closed.brokerUp();
    expectSentence(refusal(closed, 'start', {}), 'closed', '2026-01-15T20:00:51.000Z');
    expectSentence(refusal(closed, 'say', { args: { text: 'x', language: 'es' } }), 'closed', 'start');
    const spent = createScheduledAgent({ budget: { minutesPerDay: 1 } });
    await spent.goLive();
    spent.clock.advance(70_000);
    expectSentence(refusal(spent, 'start', {}), 'budget', '2026-01-16T00:00:00.000Z');
    expectSentence(refusal(spent, 'say', { args: { text: 'x', language: 'es' } }), 'budget', 'minutes');
  });
});
