import type { LaneHarness } from './lane-harness.ts';

/** A loudspeaker with a delay and faults of its own. Times are milliseconds. */
export interface DeviceTraits {
  /** From a write to its being heard. */
  readonly delayMs: number;
  /** It sounds this much slower than it should, parts per million. */
  readonly slowPpm?: number;
  /** The word of a write comes this much later. */
  readonly tellsAfterMs?: number;
}

/** What really sounds in the room of a lane. */
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
    // As the agent does it: the word comes behind what has been posted already.
    this.lane.after(tellsAfterMs, () => this.lane.step({ type: 'sounding', write, from, until }));
  }

  private flush(): void {
    const { now } = this.lane;
    while ((this.heard.at(-1)?.from ?? now) > now) this.heard.pop();
    const last = this.heard.at(-1);
    if (last !== undefined) last.until = Math.min(last.until, now);
    this.freeAt = now;
  }

  /** It falls behind what it promised, and measures that. */
  hiccup(ms: number): void {
    const last = this.heard.at(-1);
    if (last === undefined || this.freeAt <= this.lane.now) return;
    last.until += ms;
    const until = last.until;
    this.freeAt = until;
    // As the agent does it: a correction never overtakes the word that it corrects.
    this.lane.after(this.traits.tellsAfterMs ?? 0, () =>
      this.lane.step({ type: 'sounding', write: last.write, from: null, until }),
    );
  }

  /** Whether it sounds at any time of a stretch. */
  sounds(from: number, until: number): boolean {
    return this.heard.some((one) => one.from < until && one.until > from);
  }

  /** The longest time in which it could have sounded and did not, between two sounds that are closer than a second. */
  get worstHole(): number {
    return this.heard.reduce((worst, { from }, i) => {
      const hole = from - (this.heard[i - 1]?.until ?? from);
      return hole < 1000 ? Math.max(worst, hole) : worst;
    }, 0);
  }
}
