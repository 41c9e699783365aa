import { onCaptureNews } from '../../src/device/lane/capture-events.ts';
import { echoInForce, onCanceller, onEchoHeard, reviewEcho } from '../../src/device/lane/sound/echo-rules.ts';
import type { LaneEvent } from '../../src/device/lane/state/lane-event.ts';
import { LANE_DEFAULTS, type LaneOptions } from '../../src/device/lane/state/lane-options.ts';
import { createLane } from '../../src/device/lane/state/lane-state.ts';
import { StepContext } from '../../src/device/lane/state/step-context.ts';
import { RATE_HZ } from '../voices/recordings.ts';

/** Events of a lane about its echo, with their times (ms of its clock). */
export interface Told {
  readonly at: number;
  readonly kind: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The lane's echo logic: when its gate is open while the loudspeaker plays, when it falls back, and when it returns. */
export interface EchoState {
  readonly told: readonly Told[];
  /** Whether sound captured now would be sent while the loudspeaker plays. */
  readonly isOpen: boolean;
  played(pcm: Uint8Array): void;
  /** Handles the pipelines' events about the echo, and ignores others. */
  hear(event: LaneEvent, now: number): void;
}

const OPTIONS: LaneOptions = {
  source: 'en',
  targets: ['es'],
  voice: null,
  muted: false,
  volume: 100,
  earcons: false,
  echo: 'cancel',
  bargeIn: 'duck',
  start: 'boot',
  standbyAfterMs: 300_000,
};

/** @param cancelEcho switches the canceller */
export function createEchoState(cancelEcho: (on: boolean) => void): EchoState {
  const told: Told[] = [];
  const playoutBytesPerMs = (RATE_HZ * 2) / 1000;
  let state = createLane({
    settings: { ...LANE_DEFAULTS, playoutBytesPerMs },
    options: OPTIONS,
    idPrefix: 'echo',
    seed: 1,
  });
  const take = (now: number, act: (context: StepContext) => void): void => {
    const context = new StepContext(state, now);
    act(context);
    state = context.state;
    for (const effect of context.effects) {
      if (effect.type === 'notify') told.push({ at: now, kind: effect.kind, detail: effect.detail });
      if (effect.type === 'cancel_echo') cancelEcho(effect.on);
    }
  };
  return {
    told,
    get isOpen() {
      return echoInForce(state).mode === 'cancel';
    },
    played(pcm) {
      const { playout } = state;
      state = { ...state, playout: { ...playout, writtenBytes: playout.writtenBytes + pcm.byteLength } };
    },
    hear(event, now) {
      if (event.type === 'echo_heard')
        take(now, (context) => onEchoHeard(context, event.heard, event.measure));
      if (event.type === 'canceller')
        take(now, (context) => onCanceller(context, event.status, event.message));
      if (event.type === 'capture_news') take(now, (context) => onCaptureNews(context, event));
      if (event.type === 'captured') take(now, reviewEcho);
    },
  };
}
