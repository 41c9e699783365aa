/** The machine that the program runs on, and whoever starts the program there. Methods never throw. */
export interface Host {
  /** Why the program cannot be started again by ending it, in words for an operator; null: it can. */
  restartProblem(): string | null;
  /** Ends the program, so that it is started again. */
  restart(): void;
  /** Asks for a reboot of the machine; why it cannot be had, in words for an operator, or null. */
  reboot(): string | null;
}
