import { spoke, translated, understood } from '../../service-events.ts';
import type { FakeDeps } from '../fake-deps.ts';
import { createScheduledAgent, type ScheduledAgent } from '../scheduled-agent.ts';

/** A loudspeaker with listeners; a recording has none. */
export const LISTENERS = { playback: { driver: 'alsa', device: 'default', volume: 80 } };
export const PCM = (ms: number): Uint8Array => new Uint8Array(ms * 48);

/** A live kiosk at a quiet desk. */
export async function quietDesk(config: object = {}, lane: object = {}): Promise<ScheduledAgent> {
  const deps = createScheduledAgent({ ...config }, {}, { standbyAfter: 0, ...LISTENERS, ...lane });
  await deps.goLive();
  await deps.clock.elapse(3000);
  return deps;
}

let sentences = 0;
/** A visitor says one sentence, which is interpreted and heard. Takes five seconds. */
export async function sayOne(deps: FakeDeps, text = 'Where is the exit?'): Promise<void> {
  sentences += 1;
  const id = `s${sentences}`;
  for (let chunk = 0; chunk < 4; chunk++) deps.speak();
  deps.service(understood({ id, text, span: null }));
  deps.service(translated({ id, part: '0', text: '¿Dónde está la salida?' }));
  await deps.clock.elapse(1000);
  deps.service(
    spoke(PCM(1300), { sentence: id, part: '0', language: 'es', utterance: `${id}/0`, last: true }),
  );
  await quiet(deps, 2720);
}

/** The microphone hears nothing for this long. */
export async function quiet(deps: FakeDeps, ms: number): Promise<void> {
  const until = deps.clock.now() + ms;
  while (deps.clock.now() < until) {
    deps.speak(0);
    deps.lastStream().listener.pong();
    await deps.clock.elapse(0);
  }
}

export const events = (deps: FakeDeps, kind: string): Record<string, unknown>[] =>
  deps.sent(`event/${kind}`).map(({ body }) => body);
/** What the service was asked to speak: text and language. */
export const said = (deps: FakeDeps): string[][] =>
  deps.streams.flatMap(({ calls }) =>
    calls.filter((call) => call.startsWith('say ')).map((call) => JSON.parse(call.slice(4)).slice(0, 2)),
  );
export const laneOf = (deps: FakeDeps) => {
  const [lane] = deps.agent.lanes;
  if (lane === undefined) throw new Error('there is no lane');
  return lane;
};
