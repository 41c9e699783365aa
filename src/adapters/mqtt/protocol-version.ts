/** Chooses between MQTT 5 and 3.1.1. */

export type ProtocolVersion = 4 | 5;

/** Time until MQTT 5 is tried again with a broker that refused it (milliseconds): it may have been upgraded. */
export const ASK_AGAIN_AFTER_MS = 3_600_000;

export type VersionMemories = ReturnType<typeof createVersionMemories>;

/** Which brokers answered that they do not know MQTT 5. A disconnect without an answer does not count: it may have any reason. */
export function createVersionMemories() {
  /** Time of each broker's latest answer that it does not know MQTT 5, by address. */
  const lacks5Since = new Map<string, number>();
  return {
    choose({ url }: { readonly url: string }, now: number): ProtocolVersion {
      return now - (lacks5Since.get(url) ?? Number.NEGATIVE_INFINITY) < ASK_AGAIN_AFTER_MS ? 4 : 5;
    },
    lacks5({ url }: { readonly url: string }, now: number): void {
      lacks5Since.set(url, now);
    },
  };
}
