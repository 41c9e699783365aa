/** Receives the reports of a headset's plug. Called from the event loop, never re-entrantly, never after `close()`. */
export interface PlugListener {
  /** The plug is in, or out: first the present state, then each change. */
  changed(isIn: boolean): void;
  /** It cannot be read, and is retried: no plug counts as in. @param problem a sentence for people */
  lost(problem: string): void;
  /** It can be read again; `changed` follows. */
  found(): void;
}

/** Watches the plug of a lane's headset until `close`. */
export type WatchPlug = (listener: PlugListener) => { close(): void };
