import { LANE_DEFAULTS, type LaneSettings } from '../../../src/device/lane/state/lane-options.ts';
import { LaneHarness as AnyDeps, CHUNK_MS } from './lane-harness.ts';

const CHUNKS_A_SECOND = 1000 / CHUNK_MS;
export const HOUR_CHUNKS = 3600 * CHUNKS_A_SECOND;

/** A lane that asks a silent service about its task, as the shipped one does. */
export class LaneHarness extends AnyDeps {
  constructor(settings: Partial<LaneSettings> = {}) {
    super({ settings: { silentAskMs: LANE_DEFAULTS.silentAskMs, ...settings } });
  }
}

/** How often it has disconnected from such a service. */
export const ends = (lane: LaneHarness): number =>
  lane
    .all('notify')
    .filter(({ kind, detail }) => kind === 'session_ended' && detail['cause'] === 'silent_service').length;
