/** How much unspoken speech may wait in a language, and how the service reduces it (`translation_queue_configs`). */
export interface QueueRules {
  readonly desiredMs: number;
  /** Above this level, older speech is dropped down to the desired level. */
  readonly maxMs: number;
  /** Above the desired level, speech is synthesised at a higher tempo, by a factor between `minTempo` and `maxTempo`. */
  readonly autoTempo: boolean;
  readonly minTempo: number;
  readonly maxTempo: number;
}

/** Speech that a listener in real time has not yet heard, for each language. */
export interface SpeechBacklog {
  levelMs(language: string, now: number): number;
  add(language: string, ms: number, now: number): void;
  drop(language: string, ms: number): void;
  /** @param languages only these; null: all */
  clear(languages: ReadonlySet<string> | null): void;
  /** Tempo of the next speech, relative to the usual one. */
  tempo(language: string, rules: QueueRules | null, now: number): number;
}

export function createSpeechBacklog(): SpeechBacklog {
  const spokenAt = new Map<string, number>();
  const levelMs = (language: string, now: number): number =>
    Math.max(0, (spokenAt.get(language) ?? now) - now);
  return {
    levelMs,
    add(language, ms, now) {
      spokenAt.set(language, Math.max(now, spokenAt.get(language) ?? now) + ms);
    },
    drop(language, ms) {
      const before = spokenAt.get(language);
      if (before !== undefined) spokenAt.set(language, before - ms);
    },
    clear(languages) {
      for (const language of languages ?? [...spokenAt.keys()]) spokenAt.delete(language);
    },
    tempo(language, rules, now) {
      if (rules === null || !rules.autoTempo) return 1;
      const over = levelMs(language, now) - rules.desiredMs;
      if (over <= 0) return 1;
      const share = Math.min(1, over / (rules.maxMs - rules.desiredMs));
      return rules.minTempo + share * (rules.maxTempo - rules.minTempo);
    },
  };
}
