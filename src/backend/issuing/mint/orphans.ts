/**
 * A session that a killed backend left at the service is gone within 45 s:
 *
 * | at most | until |
 * |---|---|
 * | 3 s | the lease of the killed backend ends (`LEASE_MS`) |
 * | 5 s | the device has had time to repeat its request (`graceMs`); whoever takes the request over revokes the session earlier |
 * | 2 s | another backend looks for orphans (`lookEveryMs`) |
 * | 2 answers of the service | the service has listed the lane's sessions, and revoked the orphan |
 * | 7 s and 2 answers, once | the lane was just getting its next session (`againMs`, `lookEveryMs`); the request after that lists first |
 *
 * The sum is 17 s and four answers: 45 s if the service answers within 7 s. A session that the service makes after the death of
 * its backend is found at the next look, `againMs` and `lookEveryMs` later. If the looking backend is killed, too, the lane
 * is looked at again after the same 7 s; each backend looks first at its start. Lanes are looked at side by side, up to
 * `mostAtOnce`; a killed backend leaves at most `limits.concurrency` lanes (16 by default).
 */
export const ORPHANS = {
  lookEveryMs: 2000,
  /** A device repeats its request within this time (ms), and that request removes the session sooner. */
  graceMs: 5000,
  againMs: 5000,
  mostAtOnce: 20,
} as const;
