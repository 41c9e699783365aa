/** What a service has left out that it had begun to write down is told by the device, and nothing else. */
import type { LaneStep } from '../../src/agent/lane/lane-runner.ts';
import type { Violations } from './violations.ts';

const CHUNK_MS = 320;
const TICK_MS = 20;
/** Less than this a lane takes for a noise of which the service made a word. */
const LEAST_MS = 3500;
/** A lane waits for a text for half a minute, and a stream may be far behind. */
const TOLD_WITHIN_MS = 100_000;
/** What is soft at the edges of words is a pause to a lane, and interim texts end before their sentence does. */
const LEAST_SHARE = 0.5;
const MOST_SENTENCES = 100;

export interface LeftOut {
  step(step: LaneStep, now: number): void;
  /** A sentence is left out. */
  begun(job: { readonly ticks: readonly number[]; readonly renderedAt: number }): void;
  /** A piece of one is said by nobody. */
  unsaid(tick: number): void;
}

interface Sentence {
  readonly ticks: ReadonlySet<number>;
  readonly at: number;
  unsaidMs: number;
  toldMs: number;
  isMissed: boolean;
}

/** @param isTruthful false: times that are not true give speech to another sentence than its own, and the cause is a guess */
export function createLeftOut(violations: Violations, isTruthful: () => boolean): LeftOut {
  const sentences: Sentence[] = [];
  return {
    step({ before, after }, now) {
      const lost = (after.backlog.accounts.lost - before.backlog.accounts.lost) * CHUNK_MS;
      if (lost === 0) return;
      const recent = sentences.filter(({ at }) => now - at < TOLD_WITHIN_MS);
      for (const sentence of recent) sentence.toldMs += lost;
      const isLeftOut = before.loss === null && after.loss?.cause === 'left_out';
      violations.check(
        'told',
        !isLeftOut || recent.length > 0 || !isTruthful(),
        () => `${lost} ms are told as left out, and the service has left nothing out`,
      );
    },
    begun({ ticks, renderedAt }) {
      sentences.push({ ticks: new Set(ticks), at: renderedAt, unsaidMs: 0, toldMs: 0, isMissed: false });
      if (sentences.length > MOST_SENTENCES) sentences.shift();
    },
    unsaid(tick) {
      const sentence = sentences.findLast(({ ticks }) => ticks.has(tick));
      if (sentence === undefined) return;
      sentence.unsaidMs += TICK_MS;
      const { unsaidMs, toldMs, isMissed } = sentence;
      if (isMissed || unsaidMs < LEAST_MS || toldMs >= unsaidMs * LEAST_SHARE) return;
      sentence.isMissed = true;
      violations.add('told', `more than ${unsaidMs} ms were left out, and ${toldMs} ms are told`);
    },
  };
}
