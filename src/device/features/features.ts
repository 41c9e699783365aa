import { attempt, type Defects } from '../../machine/defects.ts';
import type { LaneStep } from '../lane/runner/lane-runner.ts';
import type { Feature } from './feature.ts';

type Hooks = Required<Omit<Feature, 'close' | 'saved'>>;

/** All features: a call of a hook goes to each feature that has it. One that throws is reported, and the others are called. */
export interface Features extends Hooks {
  /** The features by name; defects name them. Called when all are made. */
  join(features: Readonly<Record<string, Feature>>): void;
  /** Calls back after every step of every lane, until the returned function is called. */
  watch(listener: (step: LaneStep) => void): () => void;
  close(): Promise<void>;
  saved(): Promise<void>;
}

export function createFeatures(defects: Defects): Features {
  const all: (readonly [name: string, feature: Feature])[] = [];
  const watchers = new Set<(step: LaneStep) => void>();
  const each = (act: (feature: Feature) => void): void => {
    // Without a closure for each feature: this runs for each feature in each step of a lane.
    for (const [name, feature] of all) {
      try {
        act(feature);
      } catch (error) {
        defects(name, error);
      }
    }
  };
  const some = (isSo: (feature: Feature) => boolean | undefined): boolean => {
    let isAny = false;
    each((feature) => {
      isAny = isSo(feature) === true || isAny;
    });
    return isAny;
  };
  const eachInTime = async (act: (feature: Feature) => void | Promise<void>): Promise<void> => {
    const acts = all.map(async ([name, feature]) => {
      try {
        await act(feature);
      } catch (error) {
        defects(name, error);
      }
    });
    await Promise.all(acts);
  };

  return {
    join(features) {
      all.push(...Object.entries(features));
    },
    get subscriptions() {
      return all.flatMap(([, { subscriptions = [] }]) => subscriptions);
    },
    get needsBroker() {
      return some((feature) => feature.needsBroker);
    },
    begin: (bus) => each((feature) => feature.begin?.(bus)),
    onStep(step) {
      each((feature) => feature.onStep?.(step));
      for (const watcher of watchers) attempt(defects, 'watcher', () => watcher(step));
    },
    watch(listener) {
      watchers.add(listener);
      return () => watchers.delete(listener);
    },
    lanesChanged: () => each((feature) => feature.lanesChanged?.()),
    configChanged: () => each((feature) => feature.configChanged?.()),
    trust: (signatures) => each((feature) => feature.trust?.(signatures)),
    connected: (connection) => each((feature) => feature.connected?.(connection)),
    disconnected: (problem) => each((feature) => feature.disconnected?.(problem)),
    receive: (message, bus) => some((feature) => feature.receive?.(message, bus)),
    oversized: (topic) => each((feature) => feature.oversized?.(topic)),
    lost: (message) => each((feature) => feature.lost?.(message)),
    close: () => eachInTime((feature) => feature.close?.()),
    saved: () => eachInTime((feature) => feature.saved?.()),
  };
}
