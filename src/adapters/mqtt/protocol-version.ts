/** MQTT 5 or 3.1.1: which one to try, and what is known of a broker that does not support 5. */

export type ProtocolVersion = 4 | 5;

/** Time until a broker that refused MQTT 5 is asked again (milliseconds): it may have been upgraded. */
export const ASK_AGAIN_AFTER_MS = 3_600_000;

export interface VersionMemory {
  /** When the broker was last found without MQTT 5; null: never. */
  readonly lacks5Since: number | null;
  /** It hung up on MQTT 5 without a reason, as some old brokers do. The next attempt uses 3.1.1 and confirms or clears this. */
  readonly suspected: boolean;
  /** It has accepted MQTT 5 before. */
  readonly has5: boolean;
  /** Attempts in a row on which it hung up. */
  readonly hangUps: number;
}

export const UNKNOWN_BROKER: VersionMemory = {
  lacks5Since: null,
  suspected: false,
  has5: false,
  hangUps: 0,
};

/**
 * Hang-ups in a row before a broker known for MQTT 5 is tried with 3.1.1. It is most likely in trouble: a connection with 3.1.1
 * would succeed a moment later, and end the session in which it keeps commands for us.
 */
const HANG_UPS_OF_KNOWN = 5;

export function chooseVersion(memory: VersionMemory, now: number): ProtocolVersion {
  const known = memory.lacks5Since !== null && now - memory.lacks5Since < ASK_AGAIN_AFTER_MS;
  return known || memory.suspected ? 4 : 5;
}

/** The result of one attempt, as far as the version is concerned. */
export type VersionFinding = 'accepted' | 'unsupported' | 'hung_up' | 'other';

export function noteFinding(
  memory: VersionMemory,
  version: ProtocolVersion,
  finding: VersionFinding,
  now: number,
): VersionMemory {
  if (finding === 'accepted') {
    if (version === 5) return { ...UNKNOWN_BROKER, has5: true };
    return memory.suspected ? { ...UNKNOWN_BROKER, lacks5Since: now } : memory;
  }
  if (version === 4) return { ...memory, suspected: false };
  if (finding === 'unsupported') return { ...UNKNOWN_BROKER, lacks5Since: now };
  if (finding !== 'hung_up') return { ...memory, hangUps: 0 };
  const hangUps = memory.hangUps + 1;
  return { ...memory, hangUps, suspected: !memory.has5 || hangUps >= HANG_UPS_OF_KNOWN };
}

export type VersionMemories = ReturnType<typeof createVersionMemories>;

/** The memory of each broker, by its address. */
export function createVersionMemories() {
  const memories = new Map<string, VersionMemory>();
  const of = (url: string): VersionMemory => memories.get(url) ?? UNKNOWN_BROKER;
  return {
    choose: ({ url }: { readonly url: string }, now: number) => chooseVersion(of(url), now),
    note({ url }: { readonly url: string }, version: ProtocolVersion, finding: VersionFinding, now: number) {
      memories.set(url, noteFinding(of(url), version, finding, now));
    },
  };
}
