/** Checks sounds that the service did not render: only the device's own chimes are allowed. */
import type { LaneStep } from '../../src/device/lane/runner/lane-runner.ts';
import type { Violations } from './violations.ts';

export interface StrangeSounds {
  /** A sound was played that is not translated speech. */
  played(pcm: Uint8Array): void;
  /** The step in which the sounds were played. */
  step(step: LaneStep): void;
}

export function createStrangeSounds(violations: Violations): StrangeSounds {
  let lengths: number[] = [];
  return {
    played: ({ byteLength }) => void lengths.push(byteLength),
    step({ effects }) {
      if (lengths.length === 0) return;
      for (const effect of effects) {
        if (effect.type !== 'play' || effect.kind !== 'earcon') continue;
        const at = lengths.indexOf(effect.pcm.byteLength);
        if (at >= 0) lengths.splice(at, 1);
      }
      const isNone = lengths.length === 0;
      lengths = [];
      violations.check(
        'playout',
        isNone,
        () => 'the device played a sound that is neither speech nor a chime',
      );
    },
  };
}
