import { expect } from 'vitest';
import {
  advance,
  enqueue,
  enqueueOwn,
  type Playout,
  type PlayoutFormat,
  SILENT_PLAYOUT,
  type Write,
} from '../../../src/device/playout/playout.ts';
import { readTags, tagged } from '../lane/sound.ts';

export const FORMAT: PlayoutFormat = {
  softEdges: true,
  quickens: false,
  bytesPerMs: 48,
  lagMs: 20_000,
  aheadMs: 300,
};
export const WORDS_PER_MS = 12;
export const START = 1000;

/** A loudspeaker's queue in virtual time; sounds are tagged with their sentence and position. */
export class PlayoutHarness {
  playout: Playout = SILENT_PLAYOUT;
  now = START;
  writes: (Write & { at: number })[] = [];
  readonly format: PlayoutFormat;
  private readonly words = new Map<string, number>();
  private readonly tags = new Map<string, number>();

  constructor(format: Partial<PlayoutFormat> = {}) {
    this.format = { ...FORMAT, ...format };
  }

  arrive(key: string, ms: number, complete = false): this {
    const from = this.words.get(key) ?? 0;
    if (!this.tags.has(key)) this.tags.set(key, this.tags.size + 1);
    const pcm = tagged(this.tags.get(key) ?? 0, from, Math.round(ms * WORDS_PER_MS));
    this.words.set(key, from + pcm.byteLength / 4);
    return this.take(Number(key.split('/')[1] ?? 1), key, pcm, complete);
  }
  /** Sound without a tag. */
  take(stream: number, key: string, pcm: Uint8Array, complete = false, language: string | null = null): this {
    const arrival = { stream, key, language, pcm, receivedAt: this.now, complete };
    this.playout = enqueue(this.playout, arrival, this.format);
    this.look();
    return this;
  }
  /** A chime of the lane. */
  chime(key: string, ms: number): this {
    this.playout = enqueueOwn(
      this.playout,
      key,
      new Uint8Array(ms * this.format.bytesPerMs).fill(7),
      this.now,
    );
    this.look();
    return this;
  }
  /** Time of the next look. */
  look(): number | null {
    const { playout, writes, wakeAt } = advance(this.playout, this.now, this.format);
    this.playout = playout;
    for (const write of writes) this.writes.push({ ...write, at: this.now });
    return wakeAt;
  }
  /** Lets time pass, and looks whenever the queue asks for it. */
  pass(ms: number): this {
    const end = this.now + ms;
    for (let wakeAt = this.look(); wakeAt !== null && wakeAt <= end; wakeAt = this.look()) {
      expect(wakeAt).toBeGreaterThan(this.now);
      this.now = wakeAt;
    }
    this.now = end;
    this.look();
    return this;
  }
  /** The written speech of the service. */
  get spoken(): (Write & { at: number })[] {
    return this.writes.filter(({ kind }) => kind === 'speech');
  }
  /** The written sound as names of sentences without repeats. */
  get order(): string {
    const names = new Map([...this.tags].map(([key, tag]) => [tag, key]));
    const heard = this.spoken.flatMap(({ pcm }) => readTags(pcm).map(({ sentence }) => names.get(sentence)));
    return heard.filter((name, i) => name !== heard[i - 1]).join('');
  }
  get writtenMs(): number {
    return this.spoken.reduce((sum, { pcm }) => sum + pcm.byteLength, 0) / FORMAT.bytesPerMs;
  }
}
