/** An owner who sends every command, valid and invalid, to the device, its groups and the fleet. */
import type { BusMessage } from '../../src/ports/bus.ts';
import { deviceTopics } from '../../src/protocol/mqtt/topics.ts';
import type { Broker } from './broker.ts';
import type { CommandOracle } from './command-oracle.ts';
import type { Dice } from './dice.ts';
import type { Moments } from './moments.ts';
import { ADDRESS } from './operator.ts';
import type { SimClock } from './sim-clock.ts';

const TOPICS = deviceTopics(ADDRESS);
export const GROUPS = ['lobby', 'floor'] as const;

interface Draft {
  readonly name: string;
  readonly args: unknown;
  /** Allowed answers; empty: no answer. */
  readonly expect: readonly string[];
}

const USUAL_MS = 5000;
/** Time for the answer (ms) of commands that depend on the service, which may be away for as long as the lane waits. */
const SLOW_MS: ReadonlyMap<string, number> = new Map([
  ['languages', 35_000],
  ['voice', 35_000],
  ['diagnose', 180_000],
  // Each text queued before it may wait for a session and for a visitor to finish.
  ['say', 900_000],
]);
const TEXT =
  'Cerramos en diez minutos. Por favor, diríjanse a la salida. Gracias por su visita, y hasta pronto.';
/** The answer to `say` depends on the service, on visitors and on the lane. */
const OF_A_TEXT = ['ok', 'not_spoken', 'unsupported', 'rejected', 'busy', 'closed', 'budget'] as const;
const FROM_SERVICE = ['ok', 'rejected', 'superseded', 'no_answer'] as const;

/** Commands and their expected answers. @param modes echo modes that work in this room */
function drafts(
  dice: Dice,
  modes: readonly [string, ...string[]],
): readonly [() => Draft, ...(() => Draft)[]] {
  const draft = (name: string, args: unknown, ...expect: readonly string[]) => ({ name, args, expect });
  const lane = (): object => (dice.chance(0.3) ? { lane: 'main' } : {});
  return [
    () => draft('status', {}, 'ok'),
    () => draft('diagnose', { only: ['configuration'] }, 'ok', 'busy'),
    // Another volume would make the marks in the sound unreadable.
    () => draft('volume', { percent: 100, ...lane() }, 'ok'),
    () => draft('volume', { percent: dice.pick([101, -1, 1.5, '60', null]) }, 'invalid_args'),
    () => draft(dice.pick(['mute', 'unmute']), lane(), 'ok'),
    () => draft('mute', { lane: 'other' }, 'unknown_lane'),
    () => draft('start', lane(), 'ok'),
    () => draft('start', { now: true }, 'invalid_args'),
    () => draft('echo', { mode: dice.pick(modes), ...lane() }, 'ok'),
    () => draft('echo', { mode: 'loud' }, 'invalid_args'),
    () => draft('languages', { targets: [dice.pick(['es', 'fr', 'de'])] }, 'invalid_args', ...FROM_SERVICE),
    () => draft('languages', { targets: [] }, 'invalid_args'),
    () => draft('languages', {}, 'invalid_args'),
    () => draft('voice', { voice: dice.pick([null, 'default_low']) }, ...FROM_SERVICE),
    () => draft('voice', { voice: '' }, 'invalid_args'),
    () => draft('identify', { seconds: dice.pick([1, 4]) }, 'ok'),
    () => draft('identify', { seconds: 0 }, 'invalid_args'),
    () => draft('log_level', { level: dice.pick(['debug', 'info']), minutes: 1 }, 'ok'),
    () => draft('log_level', { level: 'loud' }, 'invalid_args'),
    () => draft('log_stream', { minutes: dice.pick([0, 1]) }, 'ok'),
    () => draft('log_stream', { minutes: 61 }, 'invalid_args'),
    () => draft(dice.pick(['restart', 'reboot']), {}, 'unsupported'),
    () => draft('explode', {}, 'unknown_command'),
    () => draft('constructor', {}, 'unknown_command'),
    () => draft('mute', 7, 'malformed'),
    () => draft('mute', [], 'malformed'),
    () => draft('mute', 'x'.repeat(70), 'malformed'),
  ];
}

/** Refusals that the device makes before it checks whether the command has expired. */
const EARLY_REFUSALS = ['invalid_args', 'unknown_command', 'malformed', 'retained'];
const isRefusedEarly = (expect: readonly string[]): boolean =>
  expect.length === 1 && EARLY_REFUSALS.includes(expect[0] ?? '');

/** Messages to which no answer is possible. */
const UNANSWERABLE: readonly [string, ...string[]] = [
  '',
  '{',
  'null',
  '[]',
  '7',
  '{"args":{}}',
  '{"id":""}',
  '{"id":7}',
];

export interface Commands {
  /** Sends any command now or in a drawn phase of the lane. */
  sendAtMoment(): void;
  /** Sends any command now. */
  send(): void;
  /** Sends a text to speak. */
  say(): void;
}

export interface CommandsSetup {
  readonly clock: SimClock;
  readonly dice: Dice;
  readonly broker: Broker;
  readonly oracle: CommandOracle;
  readonly moments: Moments;
  readonly modes: readonly [string, ...string[]];
  /** Separate dice for texts, so that older seeds draw the rest as before. */
  readonly wordsDice: Dice;
  /** A command has reached the device. */
  onCommand(kind: 'command' | 'fan-out'): void;
}

export function createCommands(setup: CommandsSetup): Commands {
  const { clock, dice, broker, oracle, moments } = setup;
  const tenant = `${ADDRESS.prefix}/${ADDRESS.tenant}`;
  const draw = drafts(dice, setup.modes);
  let sent = 0;

  /** Runs promise callbacks until the answer is due: no timer of the agent would. */
  const attend = (until: number): void => {
    clock.settle();
    if (clock.now() < until) clock.at(clock.now() + 500, () => attend(until));
  };
  const post = (
    id: string | null,
    topic: string,
    payload: string,
    more: Partial<BusMessage> = {},
    withinMs = USUAL_MS,
  ): void => {
    const message = { topic, payload, retain: false, properties: {}, ...more };
    broker.keepForDevice(
      message,
      (hand) => {
        setup.onCommand(topic.startsWith(`${TOPICS.base}/`) ? 'command' : 'fan-out');
        if (id !== null) oracle.delivered(id, clock.wall());
        hand();
        attend(clock.now() + withinMs);
      },
      () => id !== null && oracle.lost(id),
    );
  };
  const newId = (): string => `o${++sent}-${Math.floor(dice.next() * 1e9)}`;
  const stamp = (inMs: number): string | null => {
    const wall = clock.wall();
    return wall === null ? null : new Date(wall + inMs).toISOString();
  };

  const send = (draft: Draft): void => {
    const id = newId();
    const base = dice.pick([
      TOPICS.base,
      TOPICS.base,
      `${tenant}/all`,
      ...GROUPS.map((group) => `${tenant}/group/${group}`),
    ]);
    const topic = `${base}/cmd/${draft.name}`;
    const isFanOut = base !== TOPICS.base;
    let { args, expect } = draft;
    let spreadMs = 0;
    if (
      typeof args === 'object' &&
      args !== null &&
      !Array.isArray(args) &&
      dice.chance(isFanOut ? 0.6 : 0.05)
    ) {
      const spread = dice.pick([0, 5, 20, '5', 3601]);
      args = { ...args, spread_s: spread };
      const isWrong = !isFanOut || typeof spread !== 'number' || spread > 3600;
      if (isWrong && expect[0] !== 'unknown_command') expect = ['invalid_args'];
      if (!isWrong) spreadMs = Number(spread) * 1000;
      // The device checks the name after the spread.
      if (isWrong && isFanOut) expect = ['invalid_args'];
    }
    const notAfter = dice.chance(0.2) ? stamp(dice.pick([-60_000, 5000, 60_000])) : null;
    const body = { id, args, ...(notAfter === null ? {} : { not_after: notAfter }) };
    const isRetained = dice.chance(0.04);
    if (isRetained && expect[0] !== 'malformed') expect = ['retained'];
    const withinMs = (SLOW_MS.get(draft.name) ?? USUAL_MS) + spreadMs;
    const command = {
      id,
      name: draft.name,
      expect,
      notAfter: isRefusedEarly(expect) ? null : notAfter,
      waits: spreadMs > 0,
      withinMs,
    };
    const payload = JSON.stringify(body);
    oracle.sent(command);
    post(id, topic, payload, { retain: isRetained }, withinMs);
    if (isRetained || expect[0] === 'malformed') return;
    // An operator who has missed the answer sends the command again, or sends another one with the same id.
    const draw = dice.next();
    if (draw < 0.05) {
      oracle.sent(command);
      clock.at(clock.now() + dice.between(0, 5000), () => post(id, topic, payload, {}, withinMs));
    } else if (draw < 0.08) {
      clock.at(clock.now() + 20, () => {
        oracle.reused(id);
        post(null, topic, JSON.stringify({ ...body, args: { another: true } }));
      });
    }
  };

  /** Stops the lane and starts it again later: a stopped lane takes no speech. */
  const stop = (): void => {
    send({ name: 'stop', args: {}, expect: ['ok'] });
    clock.at(clock.now() + dice.between(50, 40_000), () => send({ name: 'start', args: {}, expect: ['ok'] }));
  };
  const sendAny = (): void => {
    if (dice.chance(0.08)) return stop();
    if (dice.chance(0.05)) return post(null, TOPICS.command('status'), dice.pick(UNANSWERABLE));
    if (dice.chance(0.02))
      return post(null, TOPICS.command('n'.repeat(65)), JSON.stringify({ id: newId(), args: {} }));
    send(dice.pick(draw)());
  };
  const words = setup.wordsDice;
  const say = (): void => {
    const text = TEXT.slice(0, words.whole(5, TEXT.length));
    const language = words.pick(['es', 'es', 'fr', 'de', 'xx']);
    const lane = words.chance(0.5) ? { lane: 'main' } : {};
    send({ name: 'say', args: { text, language, ...lane }, expect: OF_A_TEXT });
  };
  return { sendAtMoment: () => moments.choose(sendAny), send: sendAny, say: () => moments.choose(say) };
}
