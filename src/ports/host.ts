/** The machine, and the supervisor that starts the program there. Methods never throw. */
export interface Host {
  /** Why the program would not be started again after it ends, for an operator; null: it would be. */
  restartProblem(): string | null;
  /** Ends the program, so that its supervisor starts it again. */
  restart(): void;
  /** Requests a reboot of the machine. Returns null, or why that is impossible, for an operator. */
  reboot(): string | null;
}
