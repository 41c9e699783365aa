/**
 * How soon a session that a killed backend left at the service is gone: 45 s at most.
 *
 * | at most | until |
 * |---|---|
 * | 3 s | the lease of the dead one ends (`LEASE_MS`) |
 * | 5 s | the device has had time to repeat its request; whoever takes that over revokes the session earlier (`graceMs`) |
 * | 2 s | another backend looks (`lookEveryMs`) |
 * | 2 answers of the service | it has listed the lane's sessions, and revoked the one that no row names |
 * | 7 s and 2 answers, once | the lane was just getting its next session (`againMs`, `lookEveryMs`); the request after that lists first |
 *
 * These are 17 s and four answers: 45 s while the service answers within 7 s. A session that the service makes after the death of
 * its backend is found at the next look, `againMs` and `lookEveryMs` later. If the looking backend is killed, too, the lane's
 * turn comes again after the same 7 s; each backend looks first at its start. Lanes are looked at side by side, up to
 * `mostAtOnce`; a kill leaves `limits.concurrency` of them at most, 16 by default.
 */
export const ORPHANS = {
  lookEveryMs: 2000,
  /** A device repeats its request within this time (ms), which is quicker. */
  graceMs: 5000,
  againMs: 5000,
  mostAtOnce: 20,
} as const;
