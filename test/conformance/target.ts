/** Address and credentials of the service under test. */
export interface Target {
  /** HTTP base, without a trailing slash. */
  readonly base: string;
  /** WebSocket base, without a trailing slash. */
  readonly streaming: string;
  readonly apiKey: string;
  readonly jwt: string;
}
