/** Chooses between MQTT 5 and 3.1.1. */
import type { MqttVersion } from '../../protocol/common/setting-values.ts';
import type { VersionMemory } from './version-memory.ts';

export type ProtocolVersion = 4 | 5;

/** Time until MQTT 5 is tried again with a broker that answered that it does not know it (ms): it may have been upgraded. */
export const ASK_AGAIN_AFTER_MS = 3_600_000;
/** The same for a broker that answered MQTT 5 with silence, and accepted 3.1.1 (ms). */
export const SILENT_AGAIN_AFTER_MS = 86_400_000;
/** After this many connections in a row that ended between CONNECT and CONNACK without a byte, 3.1.1 is tried once. */
export const SILENT_TRIES = 3;

/** A broker, and the version that the operator has set for it. */
interface Target {
  readonly url: string;
  readonly version?: MqttVersion | undefined;
}

/** The operator allows one version only. */
export const isFixed = ({ version = 'auto' }: Target): boolean => version !== 'auto';

/** How an attempt ended: see `Ending`. */
interface FailedAttempt {
  readonly lacks5?: true;
  readonly isUnheard?: true;
}

export type VersionChoice = ReturnType<typeof createVersionChoice>;

/** Chooses the version of each connection. The connections that fail in a row are those of one bus. */
export function createVersionChoice(memory: VersionMemory) {
  /** Connections in a row that ended in silence, by address. */
  const silent = new Map<string, number>();
  return {
    choose({ url, version = 'auto' }: Target, now: number): ProtocolVersion {
      if (version !== 'auto') return version;
      return now < memory.lacks5Until(url) || (silent.get(url) ?? 0) >= SILENT_TRIES ? 4 : 5;
    },
    accepted({ url }: Target, used: ProtocolVersion, now: number): void {
      if (used === 5) memory.noteAccepted5(url);
      else if (silent.has(url)) memory.noteLacks5(url, now + SILENT_AGAIN_AFTER_MS);
      silent.delete(url);
    },
    /**
     * An attempt has ended without CONNACK, or with a refusal.
     * @returns whether the next attempt follows at once: it asks for 3.1.1, or shows whether the silence lasts
     */
    failed(target: Target, used: ProtocolVersion, ending: FailedAttempt, now: number): boolean {
      const { url } = target;
      const before = silent.get(url) ?? 0;
      silent.delete(url);
      if (isFixed(target) || used === 4) return false;
      if (ending.lacks5) memory.noteLacks5(url, now + ASK_AGAIN_AFTER_MS);
      // A broker that has accepted MQTT 5 once is silent for another reason.
      else if (ending.isUnheard && !memory.hasAccepted5(url)) silent.set(url, before + 1);
      return ending.lacks5 === true || silent.has(url);
    },
  };
}
