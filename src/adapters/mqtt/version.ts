/** MQTT 5 or 3.1.1: which to try, and what is remembered of a broker that does not speak 5. */

export type ProtocolVersion = 4 | 5;

/** A broker is upgraded now and then: this long after it refused MQTT 5 it is asked again. */
export const ASK_AGAIN_AFTER_MS = 3_600_000;

export interface VersionMemory {
  /** When the broker was last seen not to speak MQTT 5; null when it never was. */
  readonly lacks5Since: number | null;
  /** It hung up on MQTT 5 without a word, as some old brokers do: the next try is 3.1.1, and proves or clears it. */
  readonly suspected: boolean;
}

export const UNKNOWN_BROKER: VersionMemory = { lacks5Since: null, suspected: false };

export function chooseVersion(memory: VersionMemory, now: number): ProtocolVersion {
  const known = memory.lacks5Since !== null && now - memory.lacks5Since < ASK_AGAIN_AFTER_MS;
  return known || memory.suspected ? 4 : 5;
}

/** How one attempt ended, as far as the version goes. */
export type VersionFinding = 'accepted' | 'unsupported' | 'hung_up' | 'other';

export function noteFinding(
  memory: VersionMemory,
  version: ProtocolVersion,
  finding: VersionFinding,
  now: number,
): VersionMemory {
  if (finding === 'accepted') {
    if (version === 5) return UNKNOWN_BROKER;
    return memory.suspected ? { lacks5Since: now, suspected: false } : memory;
  }
  if (version === 4) return { ...memory, suspected: false };
  if (finding === 'unsupported') return { lacks5Since: now, suspected: false };
  if (finding === 'hung_up') return { ...memory, suspected: true };
  return memory;
}
