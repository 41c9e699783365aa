/** What a service tells the init system that started it; several at once are one message. */
export interface ServiceNews {
  /** It is up, or has read its configuration again. */
  readonly ready?: true;
  readonly reloading?: true;
  readonly stopping?: true;
  /** It has made progress since the last time. */
  readonly alive?: true;
  /** One line for people. */
  readonly status?: string;
}

/** Whoever starts the service, watches over it and starts it again. */
export interface InitSystem {
  /** False where nobody listens: a terminal, a container. */
  readonly listens: boolean;
  /** How long it waits for `alive` before it ends the service; null: forever. */
  readonly watchdogMs: number | null;
  /** Never throws, never blocks; news arrive in order. */
  tell(news: ServiceNews): void;
}
