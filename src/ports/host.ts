/** The machine, and the supervisor that starts the program there. Methods never throw. */
export interface Host {
  /** Why the program would not be restarted after it ends, worded for an operator; null: it would be restarted. */
  restartProblem(): string | null;
  /** Ends the program, so that its supervisor starts it again. */
  restart(): void;
  /** Requests a reboot of the machine. Returns null, or why that is impossible, for an operator. */
  reboot(): string | null;
}
