import type { Clock } from '../../src/ports/clock.ts';
import type { EchoCanceller, EchoCancellerSink, OpenEchoCanceller } from '../../src/ports/echo.ts';
import type { Dice } from './dice.ts';
import { withoutEcho } from './sound.ts';

/** A good echo canceller: ready soon, effective when it has learnt the room, with a short delay. It fails on demand. */
export interface SimCancellers {
  readonly open: OpenEchoCanceller;
  /** Breaks the running canceller: it returns the sound that it holds as captured. */
  fail(): void;
}

/** Sound of the loudspeaker that it needs to learn the room (ms); the agent does not trust it any sooner. */
const LEARNS_MS = 2000;
const READY_MS = [50, 1500] as const;
const DELAY_MS = [2, 25] as const;

interface Held {
  readonly pcm: Uint8Array;
  readonly capturedAt: number;
}

/** @param clock of the process that runs the cancellers */
export function createCancellers(clock: Clock, dice: Dice, roomAmplitude: number): SimCancellers {
  const open = new Map<EchoCanceller, () => void>();

  const start = (playedRateHz: number, sink: EchoCancellerSink): EchoCanceller => {
    const delayMs = dice.between(...DELAY_MS);
    let heardMs = 0;
    let over = false;
    let held: Held[] = [];
    const requeue = (): void => {
      for (const { pcm, capturedAt } of held.splice(0)) sink.frames(pcm, capturedAt);
    };
    const cancelReady = clock.at(clock.now() + dice.between(...READY_MS), () => sink.ready());
    const end = (): void => {
      over = true;
      cancelReady();
      open.delete(canceller);
    };
    const canceller: EchoCanceller = {
      played(pcm) {
        heardMs += pcm.byteLength / 2 / (playedRateHz / 1000);
      },
      flushed() {},
      captured(pcm, capturedAt) {
        const piece = { pcm, capturedAt };
        held.push(piece);
        clock.at(clock.now() + delayMs, () => {
          if (over || !held.includes(piece)) return;
          held = held.filter((one) => one !== piece);
          sink.frames(heardMs < LEARNS_MS ? pcm : withoutEcho(pcm, roomAmplitude), capturedAt);
        });
      },
      close() {
        if (over) return;
        end();
        requeue();
      },
    };
    open.set(canceller, () => {
      end();
      sink.failed('it broke');
      requeue();
    });
    return canceller;
  };

  return {
    open: ({ playedRateHz }, sink) => start(playedRateHz, sink),
    fail() {
      for (const breaks of [...open.values()]) breaks();
    },
  };
}
