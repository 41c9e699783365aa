/** Notifications from a service to the init system that started it; several fields are sent as one message. */
export interface ServiceNews {
  /** The service is up, or has read its configuration again. */
  readonly ready?: true;
  readonly reloading?: true;
  readonly stopping?: true;
  /** The program has made progress since the last report. */
  readonly alive?: true;
  /** One line for people. */
  readonly status?: string;
}

/** The supervisor that starts, watches and restarts the agent. */
export interface InitSystem {
  /** False without a supervisor: in a terminal or a container. */
  readonly listens: boolean;
  /** Timeout for `alive`, after which the supervisor kills the agent; null: no timeout. */
  readonly watchdogMs: number | null;
  /** Never throws, never blocks; notifications arrive in the order of the calls. */
  tell(news: ServiceNews): void;
}
