import type { World } from './world.ts';

const ANSWER_MS = 120;
const UPGRADE_MS = 300;
const SETUP_MS = 2500;
const END_MS = 400;

/**
 * From now on the backend, the network and the service do their job.
 * @param given `maxDurationMs`: how long each session may last, null for as long as it likes
 */
export function behave(world: World, given: { maxDurationMs?: number } = {}): void {
  world.pongs = true;
  const { maxDurationMs = null } = given;
  const runsAt = new Map<number, number>();
  const startedAt = world.now;
  world.watchers.push((effect) => {
    switch (effect.type) {
      case 'request_token':
        return world.after(ANSWER_MS, () =>
          world.step({ type: 'granted', grant: world.grantFor(effect.id, { maxDurationMs }) }),
        );
      case 'open_stream':
        return world.after(UPGRADE_MS, () => world.step({ type: 'opened', stream: effect.stream }));
      case 'send_task':
        runsAt.set(effect.stream, world.now + SETUP_MS);
        return;
      case 'poll_task': {
        const runs = world.now >= (runsAt.get(effect.stream) ?? startedAt);
        return world.after(ANSWER_MS, () =>
          world.says(
            runs
              ? { message_type: 'current_task', data: { task_status: 'running' } }
              : { message_type: 'error', data: { code: 'NOT_FOUND' } },
            effect.stream,
          ),
        );
      }
      case 'end_task':
        return world.after(END_MS, () => world.says({ message_type: 'eos', data: {} }, effect.stream));
    }
  });
  world.line(true);
}
