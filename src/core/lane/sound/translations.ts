import { judgeCuts } from '../../uplink/replay/cut-off.ts';
import { takeLeftOut } from '../../uplink/replay/interim.ts';
import { isNamelessOpen } from '../../uplink/replay/nameless-cuts.ts';
import { lessSpeech } from '../../uplink/replay/speech-count.ts';
import { notifyCut, sayLate } from '../session/ending.ts';
import { countLeftOut } from '../session/left-out.ts';
import { noteSign, type Stream, streamsOf } from '../session/session.ts';
import type { StepContext } from '../step-context.ts';
import { pump } from './sending.ts';

/**
 * A stream has given a sign of life, so what it owes is not stuck on the way, unless that was blocked until a moment ago:
 * translations that it has cut off are told, and said once more where next to nothing of them came.
 */
export function reviewTranslations(context: StepContext, before: Stream): void {
  const stream = streamsOf(context.state).find(({ id }) => id === before.id);
  // One that is not live has nothing to say.
  if (stream === undefined || stream.liveAt === null) return;
  const signs = noteSign(stream.signs, context.now);
  context.patch(stream, { signs });
  const { refused } = stream.replay.times;
  if (refused !== null && before.replay.times.refused === null) {
    context.notify('times_refused', {
      session: stream.lease.grant.session,
      message: `the service tells ${refused}`,
    });
  }
  reviewInterims(context, stream, signs.settledAt);
  // Of a lane that is stopped nothing is said once more: it would be, to somebody else, after the next start.
  if (context.phase !== 'draining') reviewSound(context, stream, signs.settledAt);
}

function reviewInterims(context: StepContext, stream: Stream, settledAt: number): void {
  const { log, leftOut } = takeLeftOut(stream.replay, settledAt, stream.newsAt);
  if (log === stream.replay) return;
  const told = countLeftOut(context, leftOut);
  context.patch(stream, { replay: { ...log, unheard: lessSpeech(log.unheard, told) } });
}

function reviewSound(context: StepContext, { id }: Stream, settledAt: number): void {
  const stream = streamsOf(context.state).find((one) => one.id === id);
  if (stream === undefined) return;
  const { sentences, untranslated } = stream.replay;
  if (sentences.length === 0 && untranslated.length === 0 && !isNamelessOpen(stream.replay)) return;
  const { log, again, cuts } = judgeCuts(stream.replay, settledAt);
  if (log === stream.replay) return;
  context.patch(stream, { replay: log });
  for (const cut of cuts) notifyCut(context, cut);
  if (again.length === 0) return;
  context.count('saidAgain');
  sayLate(context, again);
  pump(context);
}
