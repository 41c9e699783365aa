import { finished, heard, ready, refused } from '../../service-events.ts';
import type { LaneHarness } from './lane-harness.ts';

const ANSWER_MS = 120;
const UPGRADE_MS = 300;
const SETUP_MS = 2500;
const END_MS = 400;
/** Interval at which a service that hears speech sends a partial. */
const HEARD_EVERY_MS = 1000;

/**
 * From now on the backend, the network and the service work normally.
 * @param given `maxDurationMs`: limit of each session, null: none; `hears`: the service sends partials for speech;
 *   `room`: the limit of streams, asked at each upgrade, and `refuses`: how one too many is refused
 */
export function behave(
  lane: LaneHarness,
  given: {
    maxDurationMs?: number;
    hears?: boolean;
    room?: () => number;
    refuses?: 'at the upgrade' | 'in a message';
  } = {},
): void {
  lane.pongs = true;
  const { maxDurationMs = null } = given;
  const runsAt = new Map<number, number>();
  const open = new Set<number>();
  const startedAt = lane.now;
  let saidAt = Number.NEGATIVE_INFINITY;
  const upgrade = (stream: number): void => {
    const isRoom = open.size < (given.room?.() ?? 2);
    if (!isRoom && given.refuses !== 'in a message')
      return lane.refuse('session_limit_reached', { status: 409 }, stream);
    if (isRoom) open.add(stream);
    lane.step({ type: 'opened', stream });
    if (!isRoom) lane.says(refused('session_limit_reached'), stream);
  };
  lane.watchers.push((effect) => {
    switch (effect.type) {
      case 'request_token':
        return lane.after(ANSWER_MS, () =>
          lane.step({ type: 'granted', grant: lane.grantFor(effect.id, { maxDurationMs }) }),
        );
      case 'open_stream':
        return lane.after(UPGRADE_MS, () => upgrade(effect.stream));
      case 'close_stream':
        open.delete(effect.stream);
        return;
      case 'send_task':
        runsAt.set(effect.stream, lane.now + SETUP_MS);
        return;
      case 'poll_task': {
        const runs = lane.now >= (runsAt.get(effect.stream) ?? startedAt);
        return lane.after(ANSWER_MS, () => lane.says(runs ? ready() : ready('none'), effect.stream));
      }
      case 'send_audio':
        if (given.hears !== true || effect.pcm === null || lane.now - saidAt < HEARD_EVERY_MS) return;
        saidAt = lane.now;
        return lane.after(ANSWER_MS, () => lane.says(heard(), effect.stream));
      case 'end_task':
        return lane.after(END_MS, () => {
          open.delete(effect.stream);
          lane.says(finished(), effect.stream);
        });
    }
  });
  lane.brokerIs(true);
}
