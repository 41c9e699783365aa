/** Settings that a test may change in a running emulator, with the keys of `POST /emulator/settings`. */
export interface Settings {
  refusal_delivery?: 'http' | 'message' | 'close';
  data_form?: 'object' | 'string';
  heartbeat_ms?: number;
  setup_ms?: number;
  concurrent?: number;
  pending?: number;
  unicode_names?: boolean;
  account?: 'ok' | 'out_of_balance' | 'blocked';
}

/**
 * The emulator's endpoints for conditions that plain HTTP and WebSocket cannot cause, such as the passing of an hour or an empty
 * balance. Only this file knows their format.
 */
export class Steering {
  readonly #base: string;
  /** How far the suite has advanced the service's time. */
  advancedMs = 0;
  readonly #changed = new Map<string, unknown>();

  constructor(base: string) {
    this.#base = base;
  }

  /** Control of the service at `base`; null if it is not an emulator. */
  static async detect(base: string): Promise<Steering | null> {
    const steering = new Steering(base);
    try {
      await steering.#get('/emulator/settings');
      return steering;
    } catch {
      return null;
    }
  }

  /** Advances the service's time. Resolves when everything due has happened. */
  async advance(ms: number): Promise<void> {
    await this.#post('/emulator/clock', { advance_ms: ms });
    this.advancedMs += ms;
  }

  /** Changes settings until the test's end. */
  async set(settings: Settings): Promise<void> {
    const before = (await this.#get('/emulator/settings')) as Record<string, unknown>;
    for (const key of Object.keys(settings)) {
      if (!this.#changed.has(key)) this.#changed.set(key, before[key]);
    }
    await this.#post('/emulator/settings', settings);
  }

  /** Restores the settings before `set`. */
  async restore(): Promise<void> {
    if (this.#changed.size === 0) return;
    const before = Object.fromEntries(this.#changed);
    this.#changed.clear();
    await this.#post('/emulator/settings', before);
  }

  /** Refuses the next connection for a reason of section 7. */
  async refuseNext(reason: string): Promise<void> {
    await this.#post('/emulator/faults', { kind: 'refuse', reason });
  }

  /** Sends a frame of this form on the stream opened last. */
  async malform(form: string): Promise<void> {
    await this.#post('/emulator/faults', { kind: 'malformed', form });
  }

  /** The emulator's measurements, one record per stream. */
  async metrics(): Promise<Record<string, unknown>[]> {
    const answer = (await this.#get('/emulator/metrics')) as { streams: Record<string, unknown>[] };
    return answer.streams;
  }

  async #get(path: string): Promise<unknown> {
    const response = await fetch(this.#base + path, { headers: { accept: 'application/json' } });
    if (!response.ok) throw new Error(`GET ${path} answered ${response.status}`);
    return response.json();
  }

  async #post(path: string, body: unknown): Promise<void> {
    const response = await fetch(this.#base + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`POST ${path} answered ${response.status}: ${text}`);
  }
}
