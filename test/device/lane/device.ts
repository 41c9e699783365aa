import type { LaneHarness } from './lane-harness.ts';

/** A loudspeaker with a delay and faults of its own. Times are milliseconds. */
export interface DeviceTraits {
  /** Delay from a write to its playback. */
  readonly delayMs: number;
  /** How much slower than nominal it plays (ppm). */
  readonly slowPpm?: number;
  /** Delay of the report of a write. */
  readonly tellsAfterMs?: number;
}

/** The sound that a lane really causes in the room. */
export class Device {
  readonly heard: { readonly write: number; from: number; until: number }[] = [];
  private readonly lane: LaneHarness;
  private readonly traits: DeviceTraits;
  private freeAt = 0;

  constructor(lane: LaneHarness, traits: DeviceTraits) {
    this.lane = lane;
    this.traits = traits;
    lane.watchers.push((effect) => {
      if (effect.type === 'play') this.write(effect.write, effect.pcm.byteLength / 48);
      if (effect.type === 'flush_playback') this.flush();
    });
  }

  private write(write: number, ms: number): void {
    const { delayMs, slowPpm = 0, tellsAfterMs = 0 } = this.traits;
    const from = Math.max(this.lane.now + delayMs, this.freeAt);
    const until = from + ms * (1 + slowPpm / 1e6);
    this.freeAt = until;
    this.heard.push({ write, from, until });
    // As in the agent: the report comes after the events that are already queued.
    this.lane.after(tellsAfterMs, () => this.lane.step({ type: 'sounding', write, from, until }));
  }

  private flush(): void {
    const { now } = this.lane;
    while ((this.heard.at(-1)?.from ?? now) > now) this.heard.pop();
    const last = this.heard.at(-1);
    if (last !== undefined) last.until = Math.min(last.until, now);
    this.freeAt = now;
  }

  /** It falls behind its own report, and measures that. */
  hiccup(ms: number): void {
    const last = this.heard.at(-1);
    if (last === undefined || this.freeAt <= this.lane.now) return;
    last.until += ms;
    const until = last.until;
    this.freeAt = until;
    // As in the agent: a correction never overtakes the report that it corrects.
    this.lane.after(this.traits.tellsAfterMs ?? 0, () =>
      this.lane.step({ type: 'sounding', write: last.write, from: null, until }),
    );
  }

  /** Whether it sounds at any time of an interval. */
  sounds(from: number, until: number): boolean {
    return this.heard.some((one) => one.from < until && one.until > from);
  }

  /** The longest gap between two sounds that are closer than a second. */
  get worstHole(): number {
    return this.heard.reduce((worst, { from }, i) => {
      const hole = from - (this.heard[i - 1]?.until ?? from);
      return hole < 1000 ? Math.max(worst, hole) : worst;
    }, 0);
  }
}
