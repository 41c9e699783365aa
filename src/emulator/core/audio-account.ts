/** Number of remembered chunks, to recognise repeated sound: about half a minute. */
const REMEMBERED = 96;
/** Number of clients whose sound is remembered from one stream to the next. */
const MOST_CLIENTS = 500;
/** Below this peak a chunk is silence, which may repeat. */
const AUDIBLE_PEAK = 64;

/** One sample in this many is compared: enough to distinguish two pieces of sound, and cheap in a simulation. */
const STRIDE = 5;

/** A frame's sound compared with earlier ones. */
export type Novelty = 'new' | 'duplicate' | 'out_of_order';

/** A hash of a chunk (FNV-1a over the samples); null for chunks without audible sound. */
export function fingerprint(pcm: Int16Array): number | null {
  let hash = 0x811c9dc5;
  let peak = 0;
  for (let index = 0; index < pcm.length; index += STRIDE) {
    const sample = pcm[index] ?? 0;
    hash = Math.imul(hash ^ sample, 0x01000193);
    const size = sample < 0 ? -sample : sample;
    if (size > peak) peak = size;
  }
  return peak < AUDIBLE_PEAK ? null : hash >>> 0;
}

/** Recognises frames whose exact samples were sent before on the same stream. */
export interface AudioAccount {
  /** @returns `duplicate` for the sound of the previous frame, `out_of_order` for that of an older one */
  judge(print: number): Novelty;
}

export function createAudioAccount(): AudioAccount {
  const recent: number[] = [];
  return {
    judge(print) {
      const at = recent.lastIndexOf(print);
      const newest = recent.length - 1;
      recent.push(print);
      if (recent.length > REMEMBERED) recent.shift();
      if (at < 0) return 'new';
      return at === newest ? 'duplicate' : 'out_of_order';
    },
  };
}

/** Recognises sound that a client sends on two streams, such as at a rollover. */
export interface RepeatWatch {
  /**
   * Records a frame.
   * @param client the sender, on any number of streams
   * @returns whether another stream of the same client has sent it
   */
  note(client: string, stream: string, print: number): boolean;
}

export function createRepeatWatch(): RepeatWatch {
  const clients = new Map<string, Map<number, string>>();
  return {
    note(client, stream, print) {
      const heard = clients.get(client) ?? new Map<number, string>();
      clients.delete(client);
      clients.set(client, heard);
      const oldestClient = clients.keys().next().value;
      if (clients.size > MOST_CLIENTS && oldestClient !== undefined) clients.delete(oldestClient);
      const before = heard.get(print);
      heard.set(print, stream);
      const oldest = heard.keys().next().value;
      if (heard.size > REMEMBERED && oldest !== undefined) heard.delete(oldest);
      return before !== undefined && before !== stream;
    },
  };
}
