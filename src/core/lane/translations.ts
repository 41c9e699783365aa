import { judgeCuts } from '../replay/spoken.ts';
import { giveBack, notifyCut } from './ending.ts';
import { pump } from './sending.ts';
import type { Stream } from './state.ts';
import type { Turn } from './turn.ts';

/**
 * A stream has given a sign of life, so what it owes is not stuck on the way: translations that it has cut off are told,
 * and said once more where next to nothing of them came.
 */
export function reviewTranslations(turn: Turn, before: Stream): void {
  const stream = [turn.state.stream, turn.state.retiring?.stream].find((one) => one?.id === before.id);
  if (stream == null) return;
  const { refused } = stream.replay.times;
  if (refused !== null && before.replay.times.refused === null) {
    turn.notify('times_refused', {
      session: stream.lease.grant.session,
      message: `the service tells ${refused}`,
    });
  }
  if (stream.replay.sentences.length === 0) return;
  const { log, again, cuts } = judgeCuts(stream.replay, turn.now);
  if (log === stream.replay) return;
  turn.put({ ...stream, replay: log });
  for (const cut of cuts) notifyCut(turn, cut);
  if (again.length === 0) return;
  turn.count('saidAgain');
  const { quietRun } = turn.state.hold;
  giveBack(turn, again);
  // The stream that will hear it is in the middle of whatever is being said.
  turn.set({ hold: { ...turn.state.hold, quietRun } });
  pump(turn);
}
