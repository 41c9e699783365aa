/** Figures from days without faults: what standby saves, and what a rollover costs. */
import { createService } from '../../src/emulator/core/service.ts';
import type { Terms } from './terms.ts';
import type { Habits } from './visitors.ts';
import { createWorld, type World } from './world.ts';

const HOUR_MS = 3_600_000;
/** A museum's opening hours. */
const OPEN_HOURS = 10;
/** Standby delay (s) of an operator who wants low cost. */
const STANDBY_AFTER_S = 5;

/** Visits with silences of many minutes between them. */
export const MUSEUM: Habits = {
  betweenVisitsMs: 900_000,
  sentencesPerVisit: [6, 24],
  pauseMs: [800, 3000],
  politeness: 0.6,
};

export const QUIET_DAY: Terms = {
  profile: 'live',
  choices: { partialIntervalMs: 1000 },
  lane: { standbyAfter: 10, start: 'voice', echo: 'half-duplex' },
  maxDurationS: null,
  singleUse: true,
  expiresS: 60,
  habits: MUSEUM,
  echo: true,
  talk: 'natural',
  roomAmplitude: 60,
  pieceTicks: 16,
  twoLanes: false,
  commanded: false,
  bootsIn1970: false,
};

export interface DayReport {
  readonly hours: number;
  readonly speech_s: number;
  /** Translated speech that was played (s). */
  readonly translated_s: number;
  /** From the first word of each visit to the last translated word (s): the time that a human interpreter would be present. */
  readonly conversation_s: number;
  readonly billed_s: number;
  readonly naive_billed_s: number;
  readonly billed_over_speech: number;
  readonly billed_over_speech_and_translation: number;
  readonly billed_over_conversation: number;
  /** Share of the speech that was translated. */
  readonly said_share: number;
  /** Share of the speech that was muted while the loudspeaker played. */
  readonly gated_share: number;
  readonly standbys: number;
  readonly violations: number;
}

function billedS(world: World): number {
  const reports = world.host.service.reports(world.host.now());
  return reports.reduce((sum, { billed_ms }) => sum + billed_ms, 0) / 1000;
}

/** Simulates a day at a museum desk; the service's own reports give the billed time. */
export async function runDay(
  seed: number,
  { standbyAfterS = STANDBY_AFTER_S, hours = OPEN_HOURS } = {},
): Promise<DayReport> {
  const world = createWorld(seed, { ...QUIET_DAY, lane: { ...QUIET_DAY.lane, standbyAfter: standbyAfterS } });
  const { clock, speech } = world;
  let conversationMs = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  const look = (): void => {
    const now = clock.now();
    const busy = world.visitors.isTalking || world.speaker.isHeard(now);
    // Short pauses belong to the visit: people breathe, think and wait for the answer.
    if (busy) {
      if (now - lastAt < BREATH_MS) conversationMs += now - lastAt;
      lastAt = now;
    }
    world.judge();
    clock.at(now + 100, look);
  };
  look();
  world.device.start();
  await clock.run(hours * HOUR_MS);
  const naive = naiveBilledS(world);
  const speechS = (speech.spokenTicks * 20) / 1000;
  const translatedS = (world.device.lane?.playout.writtenBytes ?? 0) / PLAYED_BYTES_PER_S;
  const billed = billedS(world);
  const round = (value: number): number => Math.round(value * 100) / 100;
  const judged = speech.saidTicks + Object.values(speech.excused).reduce((sum, ticks) => sum + ticks, 0);
  return {
    hours,
    speech_s: Math.round(speechS),
    translated_s: Math.round(translatedS),
    conversation_s: Math.round(conversationMs / 1000),
    billed_s: Math.round(billed),
    naive_billed_s: Math.round(naive),
    billed_over_speech: round(billed / speechS),
    billed_over_speech_and_translation: round(billed / (speechS + translatedS)),
    billed_over_conversation: round((billed * 1000) / conversationMs),
    said_share: round(speech.saidTicks / judged),
    gated_share: round(speech.excused.gated / judged),
    standbys: world.tallies.standbys,
    violations: world.violations.list.length,
  };
}

const BREATH_MS = 8000;
const PLAYED_BYTES_PER_S = 48_000;

/** Billed time of a client that keeps one stream open all day, by the same service's rules. */
function naiveBilledS(world: World): number {
  const { choices } = world.host.service;
  const naive = createService({
    choices: { ...choices, noAudioTimeoutMs: 0 },
    keys: { apiKeys: ['naive'], jwts: [], clients: [] },
    random: () => 0.5,
    createDetector: () => ({ hear() {}, close() {} }),
    wallAtZero: 0,
  });
  naive.open({ secret: 'naive', intent: 's2s' }, 0);
  const end = world.clock.now();
  return naive.reports(end).reduce((sum, { billed_ms }) => sum + billed_ms, 0) / 1000;
}

export interface RolloverReport {
  readonly hours: number;
  readonly rollovers: number;
  /** Time with two streams open (ms): mean per rollover, and longest. */
  readonly overlap_mean_ms: number;
  readonly overlap_longest_ms: number;
  /** Longest time between two sent chunks (ms), less the length of a chunk. */
  readonly gap_longest_ms: number;
  readonly lost_ms: number;
  readonly violations: number;
}

/** Simulates an hour of talk with sessions of a minute. */
export async function runRollovers(seed: number, hours = 1): Promise<RolloverReport> {
  const world = createWorld(seed, {
    ...QUIET_DAY,
    maxDurationS: 60,
    lane: { standbyAfter: 0, echo: 'half-duplex' },
    habits: { ...MUSEUM, betweenVisitsMs: 8000 },
  });
  let lastSentAt = 0;
  let longestMs = 0;
  world.onStep(({ effects }, now) => {
    for (const effect of effects) {
      if (effect.type !== 'send_audio' || effect.capturedAt === null) continue;
      if (lastSentAt > 0) longestMs = Math.max(longestMs, now - lastSentAt);
      lastSentAt = now;
    }
  });
  world.device.start();
  for (let hour = 0; hour < hours * 60; hour++) {
    await world.clock.run(world.clock.now() + 60_000);
    world.judge();
  }
  const { rollovers, overlapMs, longestOverlapMs } = world.tallies;
  return {
    hours,
    rollovers,
    overlap_mean_ms: Math.round(overlapMs / Math.max(1, rollovers)),
    overlap_longest_ms: Math.round(longestOverlapMs),
    gap_longest_ms: Math.max(0, Math.round(longestMs - 320)),
    lost_ms: (world.device.lane?.backlog.accounts.lost ?? 0) * 320,
    violations: world.violations.list.length,
  };
}
